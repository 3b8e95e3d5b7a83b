// Shared by the kernels that measure many rows. Their registers:
//
//	SI   the query
//	DX   its length
//	R8   the place of the row's pointer
//	R9   rows left, this one included
//	DI   where the row's result goes
//	BX   the row
//	AX   offset in the row, in bytes
//	R10  offset where the unrolled loop ends
//	R13  offset where the loop of single vectors ends

// Loads BX, moves R8 on, and prefetches the beginning of the row four rows on, or
// of this one where there is none. Only the beginning: the processor goes on by
// itself, and prefetching whole rows measured slower, by far for long ones.
#define LOAD_ROW \
	MOVQ       (R8), BX;    \
	LEAQ       32(R8), R12; \
	CMPQ       R9, $4;      \
	CMOVQLE    R8, R12;     \
	MOVQ       (R12), R12;  \
	PREFETCHT0 (R12);       \
	ADDQ       $8, R8;      \
	XORQ       AX, AX

// Sets K1 to the lowest DX % (mask+1) bits. Changes AX and CX.
#define TAIL_MASK(mask) \
	MOVQ  DX, CX;    \
	MOVQ  $1, AX;    \
	ANDQ  $mask, CX; \
	SHLQ  CX, AX;    \
	DECQ  AX;        \
	KMOVQ AX, K1

// Adds the floats of Z0 to Z3 up into X0. Changes X1.
#define ADD_UP_PS_512 \
	VADDPS        Z1, Z0, Z0; \
	VADDPS        Z3, Z2, Z2; \
	VADDPS        Z2, Z0, Z0; \
	VEXTRACTF64X4 $1, Z0, Y1; \
	VADDPS        Y1, Y0, Y0; \
	ADD_UP_PS_Y0

// Adds the floats of Y0 to Y3 up into X0. Changes X1.
#define ADD_UP_PS_256 \
	VADDPS Y1, Y0, Y0; \
	VADDPS Y3, Y2, Y2; \
	VADDPS Y2, Y0, Y0; \
	ADD_UP_PS_Y0

#define ADD_UP_PS_Y0 \
	VEXTRACTF128 $1, Y0, X1;    \
	VADDPS       X1, X0, X0;    \
	VPERMILPS    $0x4e, X0, X1; \
	VADDPS       X1, X0, X0;    \
	VPERMILPS    $0xb1, X0, X1; \
	VADDSS       X1, X0, X0

// Points R12 to masks of n%(mask+1) floats, where DX is n, and sets CX to 0 if
// that is none and to another number otherwise.
#define TAIL_MASK_256(mask) \
	MOVQ DX, CX;                \
	ANDQ $mask, CX;             \
	SHLQ $2, CX;                \
	LEAQ ·tailMask+64(SB), R12; \
	SUBQ CX, R12

// Reads the arguments of func(q []T, rows []*U, out []V).
#define ARGS_MANY \
	MOVQ q_base+0(FP), SI;     \
	MOVQ q_len+8(FP), DX;      \
	MOVQ rows_base+24(FP), R8; \
	MOVQ rows_len+32(FP), R9;  \
	MOVQ out_base+48(FP), DI

// Sets R10 and R13 to where the loops end in a row of DX components of 1<<shift
// bytes: one takes round components at a time, the other step.
#define ENDS(round, step, shift) \
	MOVQ DX, R10;          \
	ANDQ $~(round-1), R10; \
	SHLQ $shift, R10;      \
	MOVQ DX, R13;          \
	ANDQ $~(step-1), R13;  \
	SHLQ $shift, R13

// Clears the accumulators.
#define CLEAR_512 \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z1, Z1, Z1; \
	VPXORD Z2, Z2, Z2; \
	VPXORD Z3, Z3, Z3

#define CLEAR_256 \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3
