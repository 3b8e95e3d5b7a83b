//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// The sums of sums.go to the last bit: component i goes to lane i%16, each lane
// in ascending order, and lanes are added up by halves. Components missing from
// the last 16 are added as 0 * 0, which changes no sum: none is ever -0.
//
// A product of two float32s is exact in a float64, so fusing the addition rounds
// as often as not fusing it. The square of a difference is not, and is rounded
// before it is added.

#define ARGS \
	MOVQ a_base+0(FP), SI;  \
	MOVQ a_len+8(FP), DX;   \
	MOVQ b_base+24(FP), BX; \
	XORQ R9, R9;            \
	MOVQ DX, R10;           \
	ANDQ $~15, R10;         \
	SHLQ $2, R10

// Adds the doubles of Y0 up into X0.
#define ADD_UP_PD_Y0 \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPD       X1, X0, X0; \
	VPERMILPD    $1, X0, X1; \
	VADDSD       X1, X0, X0

#define ADD_UP_PD \
	VADDPD Y2, Y0, Y0; \
	VADDPD Y3, Y1, Y1; \
	VADDPD Y1, Y0, Y0; \
	ADD_UP_PD_Y0

#define PRODUCT(at, acc) \
	VCVTPS2PD   at(SI)(R9*1), Y8; \
	VCVTPS2PD   at(BX)(R9*1), Y9; \
	VFMADD231PD Y9, Y8, acc

#define SQUARE(at, acc) \
	VCVTPS2PD at(SI)(R9*1), Y8; \
	VCVTPS2PD at(BX)(R9*1), Y9; \
	VSUBPD    Y9, Y8, Y8;       \
	VMULPD    Y8, Y8, Y8;       \
	VADDPD    Y8, acc, acc

// Loads half of the last components as doubles into Y4, Y6 (a) and Y5, Y7 (b):
// those at an offset of 0 or 32 bytes.
#define LAST(at) \
	VMOVUPS      at(R12), Y15;           \
	VMASKMOVPS   at(SI)(R9*1), Y15, Y4;  \
	VMASKMOVPS   at(BX)(R9*1), Y15, Y5;  \
	VEXTRACTF128 $1, Y4, X6;             \
	VEXTRACTF128 $1, Y5, X7;             \
	VCVTPS2PD    X4, Y4;                 \
	VCVTPS2PD    X5, Y5;                 \
	VCVTPS2PD    X6, Y6;                 \
	VCVTPS2PD    X7, Y7

// func productAVX2(a, b []float32) float64
//
// A round takes 16 components; Y0 to Y3 hold four lanes each.
TEXT ·productAVX2(SB), NOSPLIT, $0-56
	ARGS
	TAIL_MASK_256(15)
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3

round:
	CMPQ R9, R10
	JGE  rest
	PRODUCT(0, Y0)
	PRODUCT(16, Y1)
	PRODUCT(32, Y2)
	PRODUCT(48, Y3)
	ADDQ $64, R9
	JMP  round

rest:
	TESTQ       CX, CX
	JEQ         done
	LAST(0)
	VFMADD231PD Y5, Y4, Y0
	VFMADD231PD Y7, Y6, Y1
	LAST(32)
	VFMADD231PD Y5, Y4, Y2
	VFMADD231PD Y7, Y6, Y3

done:
	ADD_UP_PD
	VZEROUPPER
	MOVSD X0, ret+48(FP)
	RET

#define SQUARES(low, high) \
	VSUBPD Y5, Y4, Y4;     \
	VMULPD Y4, Y4, Y4;     \
	VADDPD Y4, low, low;   \
	VSUBPD Y7, Y6, Y6;     \
	VMULPD Y6, Y6, Y6;     \
	VADDPD Y6, high, high

// func squaredAVX2(a, b []float32) float64
//
// As productAVX2, with the squares of differences.
TEXT ·squaredAVX2(SB), NOSPLIT, $0-56
	ARGS
	TAIL_MASK_256(15)
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3

round:
	CMPQ R9, R10
	JGE  rest
	SQUARE(0, Y0)
	SQUARE(16, Y1)
	SQUARE(32, Y2)
	SQUARE(48, Y3)
	ADDQ $64, R9
	JMP  round

rest:
	TESTQ CX, CX
	JEQ   done
	LAST(0)
	SQUARES(Y0, Y1)
	LAST(32)
	SQUARES(Y2, Y3)

done:
	ADD_UP_PD
	VZEROUPPER
	MOVSD X0, ret+48(FP)
	RET
