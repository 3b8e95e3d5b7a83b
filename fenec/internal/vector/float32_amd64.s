//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// tailMask+64-4*n is a mask of n floats, up to 16, and zeros after it.
DATA ·tailMask+0(SB)/8, $-1
DATA ·tailMask+8(SB)/8, $-1
DATA ·tailMask+16(SB)/8, $-1
DATA ·tailMask+24(SB)/8, $-1
DATA ·tailMask+32(SB)/8, $-1
DATA ·tailMask+40(SB)/8, $-1
DATA ·tailMask+48(SB)/8, $-1
DATA ·tailMask+56(SB)/8, $-1
GLOBL ·tailMask(SB), RODATA|NOPTR, $128

// One step: 16 or 8 components at an offset, added to an accumulator.
#define DOT_512(at, acc, x) \
	VMOVUPS     at(SI)(AX*1), x;      \
	VFMADD231PS at(BX)(AX*1), x, acc

#define L2_512(at, acc, x) \
	VMOVUPS     at(SI)(AX*1), x;    \
	VSUBPS      at(BX)(AX*1), x, x; \
	VFMADD231PS x, x, acc

#define DOT_256(at, acc, x) \
	VMOVUPS     at(SI)(AX*1), x; \
	VFMADD231PS at(BX)(AX*1), x, acc

#define L2_256(at, acc, x) \
	VMOVUPS     at(SI)(AX*1), x;    \
	VSUBPS      at(BX)(AX*1), x, x; \
	VFMADD231PS x, x, acc

// func dotManyAVX512(q []float32, rows []*float32, out []float32)
//
// A round adds 64 products to four accumulators. Then come 16 at a time, and the
// rest under a mask.
TEXT ·dotManyAVX512(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(64, 16, 2)
	TAIL_MASK(15)

row:
	LOAD_ROW(2)
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
	KTESTW      K1, K1
	JEQ         done
	VMOVUPS.Z   (SI)(AX*1), K1, Z4
	VMOVUPS.Z   (BX)(AX*1), K1, Z5
	VFMADD231PS Z5, Z4, Z1

done:
	ADD_UP_PS_512
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET

// func squaredL2ManyAVX512(q []float32, rows []*float32, out []float32)
//
// As dotManyAVX512, with the squares of differences.
TEXT ·squaredL2ManyAVX512(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(64, 16, 2)
	TAIL_MASK(15)

row:
	LOAD_ROW(2)
	CLEAR_512

round:
	CMPQ AX, R10
	JGE  step
	L2_512(0, Z0, Z4)
	L2_512(64, Z1, Z5)
	L2_512(128, Z2, Z6)
	L2_512(192, Z3, Z7)
	ADDQ $256, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  rest
	L2_512(0, Z0, Z4)
	ADDQ $64, AX
	JMP  step

rest:
	KTESTW      K1, K1
	JEQ         done
	VMOVUPS.Z   (SI)(AX*1), K1, Z4
	VMOVUPS.Z   (BX)(AX*1), K1, Z5
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

// func dotManyAVX2(q []float32, rows []*float32, out []float32)
//
// A round adds 32 products to four accumulators. Then come 8 at a time, and the
// rest under the mask in Y15.
TEXT ·dotManyAVX2(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(32, 8, 2)
	TAIL_MASK_256(7)
	VMOVUPS (R12), Y15

row:
	LOAD_ROW(2)
	CLEAR_256

round:
	CMPQ AX, R10
	JGE  step
	DOT_256(0, Y0, Y4)
	DOT_256(32, Y1, Y5)
	DOT_256(64, Y2, Y6)
	DOT_256(96, Y3, Y7)
	ADDQ $128, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  rest
	DOT_256(0, Y0, Y4)
	ADDQ $32, AX
	JMP  step

rest:
	TESTQ       CX, CX
	JEQ         done
	VMASKMOVPS  (SI)(AX*1), Y15, Y4
	VMASKMOVPS  (BX)(AX*1), Y15, Y5
	VFMADD231PS Y5, Y4, Y1

done:
	ADD_UP_PS_256
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET

// func squaredL2ManyAVX2(q []float32, rows []*float32, out []float32)
//
// As dotManyAVX2, with the squares of differences.
TEXT ·squaredL2ManyAVX2(SB), NOSPLIT, $0-72
	ARGS_MANY
	ENDS(32, 8, 2)
	TAIL_MASK_256(7)
	VMOVUPS (R12), Y15

row:
	LOAD_ROW(2)
	CLEAR_256

round:
	CMPQ AX, R10
	JGE  step
	L2_256(0, Y0, Y4)
	L2_256(32, Y1, Y5)
	L2_256(64, Y2, Y6)
	L2_256(96, Y3, Y7)
	ADDQ $128, AX
	JMP  round

step:
	CMPQ AX, R13
	JGE  rest
	L2_256(0, Y0, Y4)
	ADDQ $32, AX
	JMP  step

rest:
	TESTQ       CX, CX
	JEQ         done
	VMASKMOVPS  (SI)(AX*1), Y15, Y4
	VMASKMOVPS  (BX)(AX*1), Y15, Y5
	VSUBPS      Y5, Y4, Y4
	VFMADD231PS Y4, Y4, Y1

done:
	ADD_UP_PS_256
	VMOVSS X0, (DI)
	ADDQ   $4, DI
	DECQ   R9
	JNE    row
	VZEROUPPER
	RET
