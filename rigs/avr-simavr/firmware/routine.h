/* The routine of the report's Table 1: 91 nops, with rcall (4) and ret (5) exactly 100 cycles on
 * parts with a 22-bit program counter, such as the ATmega2560. It changes no register. */
#ifndef ROUTINE_H
#define ROUTINE_H

#define ROUTINE() __asm__ volatile("rcall routine_of_100" : : : "memory")

__asm__(
    ".section .text.routine,\"ax\",@progbits\n"
    ".global routine_of_100\n"
    "routine_of_100:\n"
    "\t.rept 91\n\tnop\n\t.endr\n"
    "\tret\n"
    ".text\n");

#endif
