//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// Rows of float16s beside a query of float32s: AX counts the row's bytes, of
// which the query has twice as many.

#define DOT(at, acc, x) \
	VCVTPH2PS   at(BX)(AX*1), x;         \
	VFMADD231PS (2*at)(SI)(AX*2), x, acc

#define L2(at, acc, x) \
	VCVTPH2PS   at(BX)(AX*1), x;      \
	VSUBPS      (2*at)(SI)(AX*2), x, x; \
	VFMADD231PS x, x, acc

// Loads the last components into Z4 (the query) and Z5.
#define LAST_512 \
	VMOVDQU16.Z (BX)(AX*1), K1, Y5; \
	VCVTPH2PS   Y5, Z5;             \
	VMOVUPS.Z   (SI)(AX*2), K1, Z4

// func dotFloat16ManyAVX512(q []float32, rows []*uint16, out []float32)
//
// A round widens 64 components to float32 and adds their products to four
// accumulators. Then come 16 at a time, and the rest under a mask.
TEXT ·dotFloat16ManyAVX512(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(64, 16, 1)
	TAIL_MASK(15)

row:
	LOAD_ROW(1)
	CLEAR_512

round:
	CMPQ AX, R10
	JGE  step
	DOT(0, Z0, Z4)
	DOT(32, Z1, Z5)
	DOT(64, Z2, Z6)
	DOT(96, Z3, Z7)
	ADDQ $128, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  rest
	DOT(0, Z0, Z4)
	ADDQ $32, AX
	JMP  step

rest:
	KTESTW      K1, K1
	JEQ         done
	LAST_512
	VFMADD231PS Z5, Z4, Z1

done:
	ADD_UP_PS_512
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET

// func squaredL2Float16ManyAVX512(q []float32, rows []*uint16, out []float32)
//
// As dotFloat16ManyAVX512, with the squares of differences.
TEXT ·squaredL2Float16ManyAVX512(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(64, 16, 1)
	TAIL_MASK(15)

row:
	LOAD_ROW(1)
	CLEAR_512

round:
	CMPQ AX, R10
	JGE  step
	L2(0, Z0, Z4)
	L2(32, Z1, Z5)
	L2(64, Z2, Z6)
	L2(96, Z3, Z7)
	ADDQ $128, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  rest
	L2(0, Z0, Z4)
	ADDQ $32, AX
	JMP  step

rest:
	KTESTW      K1, K1
	JEQ         done
	LAST_512
	VSUBPS      Z5, Z4, Z4
	VFMADD231PS Z4, Z4, Z1

done:
	ADD_UP_PS_512
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET

// The steps of 8 are those of 16 in narrower registers.

// Sets CX to where the row ends.
#define END_256 \
	LEAQ (DX)(DX*1), CX

// Loads one component into X4 (the query) and X5.
#define ONE \
	MOVWLZX   (BX)(AX*1), R12; \
	VMOVD     R12, X5;         \
	VCVTPH2PS X5, X5;          \
	VMOVSS    (SI)(AX*2), X4;  \
	ADDQ      $2, AX

// func dotFloat16ManyAVX2(q []float32, rows []*uint16, out []float32)
//
// A round takes 32 components, a step 8, and the rest are taken one by one.
TEXT ·dotFloat16ManyAVX2(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(32, 8, 1)
	END_256

row:
	LOAD_ROW(1)
	CLEAR_256

round:
	CMPQ AX, R10
	JGE  step
	DOT(0, Y0, Y4)
	DOT(16, Y1, Y5)
	DOT(32, Y2, Y6)
	DOT(48, Y3, Y7)
	ADDQ $64, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  sum
	DOT(0, Y0, Y4)
	ADDQ $16, AX
	JMP  step

sum:
	ADD_UP_PS_256

rest:
	CMPQ        AX, CX
	JGE         done
	ONE
	VFMADD231SS X5, X4, X0
	JMP         rest

done:
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET

// func squaredL2Float16ManyAVX2(q []float32, rows []*uint16, out []float32)
//
// As dotFloat16ManyAVX2, with the squares of differences.
TEXT ·squaredL2Float16ManyAVX2(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(32, 8, 1)
	END_256

row:
	LOAD_ROW(1)
	CLEAR_256

round:
	CMPQ AX, R10
	JGE  step
	L2(0, Y0, Y4)
	L2(16, Y1, Y5)
	L2(32, Y2, Y6)
	L2(48, Y3, Y7)
	ADDQ $64, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  sum
	L2(0, Y0, Y4)
	ADDQ $16, AX
	JMP  step

sum:
	ADD_UP_PS_256

rest:
	CMPQ        AX, CX
	JGE         done
	ONE
	VSUBSS      X5, X4, X4
	VFMADD231SS X4, X4, X0
	JMP         rest

done:
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET

// func readFloat16sF16C(x []float32, b []byte)
//
// Widens 8 components at a time; len(x) is a multiple of 8.
TEXT ·readFloat16sF16C(SB), NOSPLIT, $0-48
	MOVQ x_base+0(FP), DI
	MOVQ x_len+8(FP), DX
	MOVQ b_base+24(FP), SI
	XORQ AX, AX

round:
	CMPQ      AX, DX
	JGE       done
	VCVTPH2PS (SI)(AX*2), Y0
	VMOVUPS   Y0, (DI)(AX*4)
	ADDQ      $8, AX
	JMP       round

done:
	VZEROUPPER
	RET

// func writeFloat16sF16C(b []byte, x []float32)
//
// Rounds 8 components at a time to the nearest, or the even one of two; len(x)
// is a multiple of 8.
TEXT ·writeFloat16sF16C(SB), NOSPLIT, $0-48
	MOVQ b_base+0(FP), DI
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), DX
	XORQ AX, AX

round:
	CMPQ      AX, DX
	JGE       done
	VMOVUPS   (SI)(AX*4), Y0
	VCVTPS2PH $0, Y0, (DI)(AX*2)
	ADDQ      $8, AX
	JMP       round

done:
	VZEROUPPER
	RET
