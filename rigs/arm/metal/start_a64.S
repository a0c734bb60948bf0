/* Start of an aarch64 program on QEMU's board `virt`: stack, vectors, main. */
  .section .start, "ax"
  .global start
start:
  ldr x0, =stack
  mov sp, x0
  ldr x0, =vectors
  msr vbar_el1, x0
  isb
  bl main
  bl leave
fault:
  mov w0, #99
  bl leave
  .balign 2048
vectors:
  .rept 16
  b fault
  .balign 128
  .endr
