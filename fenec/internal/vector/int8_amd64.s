//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// VPDPBUSD multiplies unsigned bytes by signed ones. Flipping the highest bit of
// a row's component adds 128 to it, as an unsigned byte; 128 times the sum of
// the query, computed once, is subtracted in the end. All sums are modulo 2^32.
#define DOT_512(at, acc, x) \
	VPXORD   at(BX)(AX*1), Z15, x; \
	VPDPBUSD at(SI)(AX*1), x, acc

// Adds the int32s of Z0 to Z3 up into X0. Changes X1.
#define ADD_UP_D_512 \
	VPADDD        Z1, Z0, Z0; \
	VPADDD        Z3, Z2, Z2; \
	VPADDD        Z2, Z0, Z0; \
	VEXTRACTI64X4 $1, Z0, Y1; \
	VPADDD        Y1, Y0, Y0; \
	ADD_UP_D_Y0

#define ADD_UP_D_Y0 \
	VEXTRACTI128 $1, Y0, X1;    \
	VPADDD       X1, X0, X0;    \
	VPSHUFD      $0x4e, X0, X1; \
	VPADDD       X1, X0, X0;    \
	VPSHUFD      $0xb1, X0, X1; \
	VPADDD       X1, X0, X0

// func dotInt8ManyVNNI(q []int8, rows []*int8, out []int32)
//
// A round adds 256 products to four accumulators. Then come 64 at a time, and the
// rest under a mask.
TEXT ·dotInt8ManyVNNI(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(256, 64, 0)
	TAIL_MASK(63)
	MOVL         $0x80808080, AX
	VPBROADCASTD AX, Z15

	// 128 times the sum of the query goes to CX.
	XORQ AX, AX
	CLEAR_512

query:
	CMPQ     AX, R13
	JGE      queryRest
	VPDPBUSD (SI)(AX*1), Z15, Z0
	ADDQ     $64, AX
	JMP      query

queryRest:
	VMOVDQU8.Z (SI)(AX*1), K1, Z4
	VPDPBUSD   Z4, Z15, Z1
	ADD_UP_D_512
	VMOVD      X0, CX

row:
	LOAD_ROW(0)
	CLEAR_512

round:
	CMPQ AX, R10
	JGE  step
	DOT_512(0, Z0, Z4)
	DOT_512(64, Z1, Z5)
	DOT_512(128, Z2, Z6)
	DOT_512(192, Z3, Z7)
	ADDQ $256, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  rest
	DOT_512(0, Z0, Z4)
	ADDQ $64, AX
	JMP  step

rest:
	KTESTQ     K1, K1
	JEQ        done
	VMOVDQU8.Z (BX)(AX*1), K1, Z5
	VMOVDQU8.Z (SI)(AX*1), K1, Z4
	VPXORD     Z5, Z15, Z5
	VPDPBUSD   Z4, Z5, Z1

done:
	ADD_UP_D_512
	VMOVD X0, R12
	SUBL  CX, R12
	MOVL  R12, (DI)
	ADDQ  $4, DI
	DECQ  R9
	JNE   row
	VZEROUPPER
	RET

// 16 products of int8s, widened to int16s and added in pairs to int32s.
#define DOT_256(at, acc, x, y) \
	VPMOVSXBW at(SI)(AX*1), x; \
	VPMOVSXBW at(BX)(AX*1), y; \
	VPMADDWD  x, y, x;         \
	VPADDD    x, acc, acc

// func dotInt8ManyAVX2(q []int8, rows []*int8, out []int32)
//
// A round adds 64 products to four accumulators. Then come 16 at a time, and the
// rest one by one.
TEXT ·dotInt8ManyAVX2(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(64, 16, 0)

row:
	LOAD_ROW(0)
	CLEAR_256

round:
	CMPQ AX, R10
	JGE  step
	DOT_256(0, Y0, Y4, Y5)
	DOT_256(16, Y1, Y6, Y7)
	DOT_256(32, Y2, Y8, Y9)
	DOT_256(48, Y3, Y10, Y11)
	ADDQ $64, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  sum
	DOT_256(0, Y0, Y4, Y5)
	ADDQ $16, AX
	JMP  step

sum:
	VPADDD Y1, Y0, Y0
	VPADDD Y3, Y2, Y2
	VPADDD Y2, Y0, Y0
	ADD_UP_D_Y0
	VMOVD  X0, CX

rest:
	CMPQ    AX, DX
	JGE     done
	MOVBLSX (SI)(AX*1), R12
	MOVBLSX (BX)(AX*1), R15
	IMULL   R15, R12
	ADDL    R12, CX
	INCQ    AX
	JMP     rest

done:
	MOVL CX, (DI)
	ADDQ $4, DI
	DECQ R9
	JNE  row
	VZEROUPPER
	RET
