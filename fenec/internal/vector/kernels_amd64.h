// Shared by the kernels that measure many rows. Their registers:
//
//	SI   the query
//	DX   its length
//	R8   the place of the row's pointer
//	R9   rows left, this one included
//	R11  the place of the next pointer to a row to fetch
//	R14  rows left to fetch
//	DI   where the row's result goes
//	BX   the row
//	AX   offset in the row, in bytes
//	R10  offset where the unrolled loop ends
//	R13  offset where the loop of single vectors ends

// Loads BX and moves R8 on. Then fetches a row of those to fetch, or as many as
// there are more of them than rows to measure: the first lines of its DX components
// of 1<<shift bytes, after which the processor goes on by itself. Clears AX and
// changes R12. Fetching all rows before the first is measured is slower: it fills
// the queue of loads, on which everything waits then.
#define LOAD_ROW(shift) \
	MOVQ (R8), BX;          \
	ADDQ $8, R8;            \
fetch:                      \
	DECQ R14;               \
	JLT  fetched;           \
	MOVQ (R11), R12;        \
	ADDQ $8, R11;           \
	MOVQ DX, AX;            \
	SHLQ $shift, AX;        \
	CMPQ AX, $1024;         \
	JLT  line;              \
	MOVQ $1024, AX;         \
line:                       \
	PREFETCHT0 (R12);       \
	ADDQ       $64, R12;    \
	SUBQ       $64, AX;     \
	JGT        line;        \
	CMPQ       R14, R9;     \
	JGE        fetch;       \
fetched:                    \
	XORQ AX, AX

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

// Reads the arguments of func(q []T, rows []*U, out []V). The rows beyond those
// that out has room for are the ones to fetch.
#define ARGS_MANY \
	MOVQ q_base+0(FP), SI;     \
	MOVQ q_len+8(FP), DX;      \
	MOVQ rows_base+24(FP), R8; \
	MOVQ out_base+48(FP), DI;  \
	MOVQ out_len+56(FP), R9;   \
	LEAQ (R8)(R9*8), R11;      \
	MOVQ rows_len+32(FP), R14; \
	SUBQ R9, R14

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
