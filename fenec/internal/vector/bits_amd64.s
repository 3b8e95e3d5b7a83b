//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// Adds the int64s of Z0 up into AX. Changes X1.
#define ADD_UP_Q_512 \
	VEXTRACTI64X4 $1, Z0, Y1; \
	VPADDQ        Y1, Y0, Y0; \
	ADD_UP_Q_Y0

#define ADD_UP_Q_Y0 \
	VEXTRACTI128 $1, Y0, X1;    \
	VPADDQ       X1, X0, X0;    \
	VPSHUFD      $0x4e, X0, X1; \
	VPADDQ       X1, X0, X0;    \
	VMOVQ        X0, AX

// The weights of 8 planes, as shifts.
DATA planeShifts<>+0(SB)/8, $0
DATA planeShifts<>+8(SB)/8, $1
DATA planeShifts<>+16(SB)/8, $2
DATA planeShifts<>+24(SB)/8, $3
DATA planeShifts<>+32(SB)/8, $4
DATA planeShifts<>+40(SB)/8, $5
DATA planeShifts<>+48(SB)/8, $6
DATA planeShifts<>+56(SB)/8, $7
GLOBL planeShifts<>(SB), RODATA|NOPTR, $64

// func planesManyVPOPCNT(q [][8]uint64, rows []*uint64, out []int32)
//
// Takes a word of the row at a time to the 8 words of the query's planes, and
// counts the bits they share in 8 lanes, two words in turn so that additions
// need not wait. Each count is shifted by its plane's weight in the end.
TEXT ·planesManyVPOPCNT(SB), NOSPLIT, $0-72
	ARGS_MANY
	VMOVDQU64 planeShifts<>(SB), Z15

row:
	LOAD_ROW(3)
	MOVQ   SI, R10
	MOVQ   DX, CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1

round:
	SUBQ         $2, CX
	JLT          rest
	VPBROADCASTQ (BX)(AX*1), Z4
	VPBROADCASTQ 8(BX)(AX*1), Z5
	VPANDQ       (R10), Z4, Z4
	VPANDQ       64(R10), Z5, Z5
	VPOPCNTQ     Z4, Z4
	VPOPCNTQ     Z5, Z5
	VPADDQ       Z4, Z0, Z0
	VPADDQ       Z5, Z1, Z1
	ADDQ         $16, AX
	ADDQ         $128, R10
	JMP          round

rest:
	ADDQ         $2, CX
	JEQ          done
	VPBROADCASTQ (BX)(AX*1), Z4
	VPANDQ       (R10), Z4, Z4
	VPOPCNTQ     Z4, Z4
	VPADDQ       Z4, Z0, Z0

done:
	VPADDQ  Z1, Z0, Z0
	VPSLLVQ Z15, Z0, Z0
	ADD_UP_Q_512
	MOVL    AX, (DI)
	ADDQ    $4, DI
	DECQ    R9
	JNE     row
	VZEROUPPER
	RET

// The number of bits in each nibble, twice.
DATA nibbles<>+0(SB)/8, $0x0302020102010100
DATA nibbles<>+8(SB)/8, $0x0403030203020201
DATA nibbles<>+16(SB)/8, $0x0302020102010100
DATA nibbles<>+24(SB)/8, $0x0403030203020201
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

// Adds the numbers of bits that the words of Y4 share with those at an address
// to the int64s of acc. The bits of a byte are looked up by its nibbles (Muła et
// al., arXiv:1611.07612). Y12 is zero, Y13 nibbles<>, Y14 a mask of low nibbles.
#define SHARED_BITS(from, x, y, acc) \
	VPAND   from, Y4, x;   \
	VPSRLQ  $4, x, y;      \
	VPAND   Y14, x, x;     \
	VPAND   Y14, y, y;     \
	VPSHUFB x, Y13, x;     \
	VPSHUFB y, Y13, y;     \
	VPADDB  y, x, x;       \
	VPSADBW Y12, x, x;     \
	VPADDQ  x, acc, acc

// func planesManyAVX2(q [][8]uint64, rows []*uint64, out []int32)
//
// As planesManyVPOPCNT, with four planes in Y0 and four in Y1.
TEXT ·planesManyAVX2(SB), NOSPLIT, $0-72
	ARGS_MANY
	MOVL         $0x0f0f0f0f, AX
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	VMOVDQU      nibbles<>(SB), Y13
	VPXOR        Y12, Y12, Y12
	VMOVDQU      planeShifts<>(SB), Y10
	VMOVDQU      planeShifts<>+32(SB), Y11

row:
	LOAD_ROW(3)
	MOVQ  SI, R10
	MOVQ  DX, CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

round:
	SUBQ         $1, CX
	JLT          done
	VPBROADCASTQ (BX)(AX*1), Y4
	SHARED_BITS((R10), Y5, Y6, Y0)
	SHARED_BITS(32(R10), Y7, Y8, Y1)
	ADDQ         $8, AX
	ADDQ         $64, R10
	JMP          round

done:
	VPSLLVQ Y10, Y0, Y0
	VPSLLVQ Y11, Y1, Y1
	VPADDQ  Y1, Y0, Y0
	ADD_UP_Q_Y0
	MOVL    AX, (DI)
	ADDQ    $4, DI
	DECQ    R9
	JNE     row
	VZEROUPPER
	RET
