//! Rows whose machine code the caller encodes: straight-line instructions that begin with given
//! register values.
//!
//! The code lies in memory that may be run but not written. A row loads the registers, calls its
//! code between two reads of the clock, and restores what callers rely on. Loading and calling cost
//! the same in every row, so they are part of the overhead for which the system is solved.
//!
//! The code of a row begins by writing all flags, as code that reads flags nearly always does. The
//! call goes to another row each time, so that cores mispredict it, and Redwood Cove reads flags
//! that were written before such a branch a cycle later.
#![cfg_attr(
    all(unix, target_arch = "x86_64"),
    allow(
        unsafe_code,
        reason = "mapping memory that may be run, and jumping into it, have no safe form"
    )
)]

use crate::clock::ReadFn;

/// The vector registers that a row loads first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Vectors {
    /// The lower 128 bits of 16 registers. The upper parts are zero.
    #[default]
    Sse,
    /// 256 bits of 16 registers.
    Avx,
    /// 512 bits of 32 registers, and the mask registers.
    Avx512,
}

/// The values with which a row begins.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub struct Registers {
    /// The vector registers 0 to 31; those from 16 on for [`Vectors::Avx512`].
    pub vectors: [[u64; 8]; 32],
    /// The general registers in the order of their encoding. The value of the stack pointer is not
    /// used.
    pub general: [u64; 16],
    /// The mask registers 0 to 7, for [`Vectors::Avx512`].
    pub masks: [u64; 8],
}

/// Lines of the buffer that rows may read and write.
pub const BUFFER_LINES: usize = 16;
/// Bytes of a line.
pub const LINE_BYTES: usize = 64;

/// What a row that reads or writes memory finds in the buffer, and which registers point into it.
/// Addresses are those of the middle of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// The content: this word everywhere. It is set again before each reading.
    pub word: u64,
    /// Whether the address is added to the word.
    pub holds_address: bool,
    /// General registers to which the address is added: a bit for each number.
    pub pointers: u16,
}

/// Why encoded rows cannot be run, with what to do.
pub type Refused = String;

/// Machine code of rows, ready to run.
#[derive(Debug)]
pub struct EncodedRows {
    #[cfg_attr(
        not(all(unix, target_arch = "x86_64")),
        allow(dead_code, reason = "other architectures run no such rows")
    )]
    rows: Vec<EncodedRow>,
    #[cfg(all(unix, target_arch = "x86_64"))]
    memory: here::Memory,
    #[cfg(all(unix, target_arch = "x86_64"))]
    words: Box<here::Words>,
}

/// A row: its code, and the values with which it begins.
#[derive(Debug, Clone)]
struct EncodedRow {
    #[cfg_attr(
        not(all(unix, target_arch = "x86_64")),
        allow(dead_code, reason = "other architectures run no such rows")
    )]
    start: usize,
    #[cfg_attr(
        not(all(unix, target_arch = "x86_64")),
        allow(dead_code, reason = "other architectures run no such rows")
    )]
    registers: std::rc::Rc<Registers>,
    #[cfg_attr(
        not(all(unix, target_arch = "x86_64")),
        allow(dead_code, reason = "other architectures run no such rows")
    )]
    vectors: Vectors,
    /// The word that fills the buffer before the row runs.
    #[cfg_attr(
        not(all(unix, target_arch = "x86_64")),
        allow(dead_code, reason = "other architectures run no such rows")
    )]
    word: Option<u64>,
}

/// The code of a row before it is put into memory.
#[derive(Debug, Clone)]
pub struct RowBytes {
    /// Straight-line instructions: no branches, no use of the stack, and memory only where the
    /// registers point to it.
    pub code: Vec<u8>,
    /// How often the code runs, one time after the other: it is called where that is more than
    /// once.
    pub runs: u32,
    /// The values with which the row begins.
    pub registers: std::rc::Rc<Registers>,
    /// The vector registers that it loads first.
    pub vectors: Vectors,
    /// The buffer, if it reads or writes memory.
    pub buffer: Option<Buffer>,
}

/// Whether encoded rows can be run in this build.
///
/// # Errors
/// The architecture, if it is not the one that rows are encoded for.
pub fn can_run_encoded() -> Result<(), Refused> {
    let refused = || {
        let (here, system) = (std::env::consts::ARCH, std::env::consts::OS);
        format!("rows of machine code are built for x86-64 on Unix, not for {here} on {system}")
    };
    cfg!(all(unix, target_arch = "x86_64")).then_some(()).ok_or_else(refused)
}

#[cfg(all(unix, target_arch = "x86_64"))]
mod here {
    use super::{
        BUFFER_LINES, Buffer, EncodedRow, EncodedRows, LINE_BYTES, ReadFn, Refused, Registers,
        RowBytes, Vectors,
    };
    use std::arch::asm;
    use std::cell::Cell;
    use std::mem::offset_of;
    use std::rc::Rc;

    /// Rows begin at a line of the cache.
    const ALIGNMENT: usize = 64;
    /// Returns to the caller.
    const RETURN: u8 = 0xc3;
    /// Writes all flags and no register: `test r15, r15`. A test of the stack pointer has slow
    /// flags on Redwood Cove, too.
    const WRITE_FLAGS: [u8; 3] = [0x4d, 0x85, 0xff];

    /// Memory that may be run.
    #[derive(Debug)]
    pub struct Memory {
        start: *mut u8,
        bytes: usize,
    }

    impl Memory {
        fn with(code: &[u8]) -> Result<Memory, Refused> {
            let bytes = code.len().max(1);
            let refused = |failure: &str| {
                format!(
                    "{failure}: {}; this system forbids code that is made at run time",
                    std::io::Error::last_os_error()
                )
            };
            // SAFETY: a new private mapping at an address that the system chooses.
            let start = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if start == libc::MAP_FAILED {
                return Err(refused("cannot get memory for the code"));
            }
            let memory = Memory { start: start.cast(), bytes };
            // SAFETY: the mapping is as long as the code, writable, and nothing else refers to it
            // yet. Then it is made unwritable before anything runs in it.
            let result = unsafe {
                std::ptr::copy_nonoverlapping(code.as_ptr(), memory.start, code.len());
                libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_EXEC)
            };
            if result == 0 { Ok(memory) } else { Err(refused("cannot make the code runnable")) }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: unmaps what `with` mapped; nothing runs in it any more, as `run` borrows the
            // rows.
            unsafe { libc::munmap(self.start.cast(), self.bytes) };
        }
    }

    /// Words of the buffer.
    const WORDS: usize = BUFFER_LINES * LINE_BYTES / 8;

    /// The buffer. Rows change it through its address, so the compiler must not know its content.
    /// It begins at a page, so that no two rows differ by where it lies.
    #[derive(Debug)]
    #[repr(C, align(4096))]
    pub struct Words([Cell<u64>; WORDS]);

    impl Words {
        fn new() -> Box<Words> {
            Box::new(Words(std::array::from_fn(|_| Cell::new(0))))
        }

        /// The address of its middle.
        fn middle(&self) -> u64 {
            let start = std::ptr::from_ref(&self.0).expose_provenance();
            (start + BUFFER_LINES / 2 * LINE_BYTES) as u64
        }

        fn fill(&self, word: u64) {
            self.0.iter().for_each(|cell| cell.set(word));
        }

        /// Registers that point into it, and the word that fills it.
        fn located(
            &self,
            registers: &Rc<Registers>,
            buffer: Option<Buffer>,
        ) -> (Rc<Registers>, Option<u64>) {
            let Some(buffer) = buffer else { return (registers.clone(), None) };
            let mut registers = Registers::clone(registers);
            for (number, value) in registers.general.iter_mut().enumerate() {
                let offset = if buffer.pointers >> number & 1 == 1 { self.middle() } else { 0 };
                *value = value.wrapping_add(offset);
            }
            let offset = if buffer.holds_address { self.middle() } else { 0 };
            (Rc::new(registers), Some(buffer.word.wrapping_add(offset)))
        }
    }

    /// Appends a function of these parts; where it begins.
    fn append(all_code: &mut Vec<u8>, parts: &[&[u8]]) -> usize {
        all_code.resize(usize::next_multiple_of(all_code.len(), ALIGNMENT), RETURN);
        let start = all_code.len();
        parts.iter().for_each(|part| all_code.extend_from_slice(part));
        all_code.push(RETURN);
        start
    }

    /// Appends a row that calls its code; where it begins. A call changes no register but the stack
    /// pointer, which the code does not use, and no flag.
    fn append_calls(all_code: &mut Vec<u8>, row: &RowBytes) -> usize {
        const CALL: u8 = 0xe8;
        const CALL_BYTES: usize = 5;
        let code = append(all_code, &[&row.code]);
        let first = usize::next_multiple_of(all_code.len(), ALIGNMENT) + WRITE_FLAGS.len();
        // The distance is that from behind the call, back to the code.
        let call = |at: usize| {
            let distance = first + (at + 1) * CALL_BYTES - code;
            std::iter::once(CALL).chain((distance as u32).wrapping_neg().to_le_bytes())
        };
        let calls: Vec<u8> = (0..row.runs as usize).flat_map(call).collect();
        append(all_code, &[&WRITE_FLAGS, &calls])
    }

    impl EncodedRows {
        /// Puts the code of rows into memory that may be run.
        ///
        /// # Errors
        /// The system refuses such memory.
        pub fn new(rows: &[RowBytes]) -> Result<EncodedRows, Refused> {
            let (mut code, mut encoded_rows, words) = (Vec::new(), Vec::new(), Words::new());
            for row in rows {
                let start = if row.runs == 1 {
                    append(&mut code, &[&WRITE_FLAGS, &row.code])
                } else {
                    append_calls(&mut code, row)
                };
                let (registers, word) = words.located(&row.registers, row.buffer);
                encoded_rows.push(EncodedRow { start, registers, vectors: row.vectors, word });
            }
            Ok(EncodedRows { rows: encoded_rows, memory: Memory::with(&code)?, words })
        }

        /// Number of rows.
        pub fn len(&self) -> usize {
            self.rows.len()
        }

        /// Whether there are no rows.
        pub fn is_empty(&self) -> bool {
            self.rows.is_empty()
        }

        /// Runs a row: its time in ticks of a clock.
        pub fn run(&self, row: usize, now: ReadFn) -> u64 {
            let EncodedRow { start, registers, vectors, word } = &self.rows[row];
            let registers: &Registers = registers;
            // This also brings the buffer into the first level of the cache.
            word.iter().for_each(|word| self.words.fill(*word));
            let begin = now();
            // SAFETY: the row begins within the mapping, which is runnable and lives as long as
            // `self`. It is straight-line code that returns, as `RowBytes` demands; the assembly
            // restores what the ABI keeps and declares the rest. What the row writes in the buffer
            // is in cells whose address was exposed.
            unsafe {
                let code = self.memory.start.add(*start);
                match vectors {
                    Vectors::Sse => sse(code, registers),
                    Vectors::Avx => avx(code, registers),
                    Vectors::Avx512 => avx512(code, registers),
                }
            }
            now().wrapping_sub(begin)
        }
    }

    /// Defines a function that loads the registers, with these instructions before and after the
    /// code.
    macro_rules! enter {
        ($name:ident, $load:literal, $bytes:literal, [$($more:expr),*], $leave:expr) => {
            /// Loads the registers and calls the code.
            #[inline(never)]
            unsafe fn $name(code: *const u8, registers: &Registers) {
                // SAFETY: the caller vouches for the code. `rbx` and `rbp`, which cannot be named
                // as clobbered, are saved on the stack; the code does not use the stack.
                unsafe {
                    asm!(
                        "push rbx", "push rbp", "push rsi",
                        concat!(
                            ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n",
                            $load, "\\n, [rdi + ", $bytes, " * \\n]\n.endr"
                        ),
                        $($more,)*
                        "mov rax, [rdi + {general}]", "mov rcx, [rdi + {general} + 8]",
                            "mov rdx, [rdi + {general} + 16]",
                        "mov rbx, [rdi + {general} + 24]", "mov rbp, [rdi + {general} + 40]",
                        "mov rsi, [rdi + {general} + 48]",
                        "mov r8, [rdi + {general} + 64]", "mov r9, [rdi + {general} + 72]",
                        "mov r10, [rdi + {general} + 80]",
                        "mov r11, [rdi + {general} + 88]", "mov r12, [rdi + {general} + 96]",
                        "mov r13, [rdi + {general} + 104]",
                        "mov r14, [rdi + {general} + 112]", "mov r15, [rdi + {general} + 120]",
                        "mov rdi, [rdi + {general} + 56]",
                        "call [rsp]",
                        $leave,
                        "pop rsi", "pop rbp", "pop rbx",
                        "/* {masks} */",
                        general = const offset_of!(Registers, general),
                        masks = const offset_of!(Registers, masks),
                        inout("rdi") std::ptr::from_ref(registers) => _, inout("rsi") code => _,
                        out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                        clobber_abi("C"),
                    );
                }
            }
        };
    }

    enter!(sse, "movups xmm", "64", [], "/* legacy code leaves the upper parts as they were */");
    enter!(avx, "vmovups ymm", "64", [], "vzeroupper");
    enter!(
        avx512,
        "vmovups zmm",
        "64",
        [
            concat!(
                ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n",
                "vmovups zmm\\n, [rdi + 64 * \\n]\n.endr"
            ),
            "kmovq k1, [rdi + {masks} + 8]",
            "kmovq k2, [rdi + {masks} + 16]",
            "kmovq k3, [rdi + {masks} + 24]",
            "kmovq k4, [rdi + {masks} + 32]",
            "kmovq k5, [rdi + {masks} + 40]",
            "kmovq k6, [rdi + {masks} + 48]",
            "kmovq k7, [rdi + {masks} + 56]"
        ],
        // The registers from 16 on would keep the wide state of the core in use.
        concat!(
            ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n",
            "vpxord zmm\\n, zmm\\n, zmm\\n\n.endr\nvzeroupper"
        )
    );
}

#[cfg(not(all(unix, target_arch = "x86_64")))]
impl EncodedRows {
    /// Rows of machine code are built for x86-64 only.
    ///
    /// # Errors
    /// Always, with the architecture.
    pub fn new(_: &[RowBytes]) -> Result<EncodedRows, Refused> {
        Err(can_run_encoded().err().unwrap_or_default())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// There are no rows to run.
    pub fn run(&self, _: usize, _: ReadFn) -> u64 {
        0
    }
}

#[cfg(all(test, unix, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::clock::fake;
    use std::rc::Rc;

    fn row(code: &[u8], registers: &Rc<Registers>, vectors: Vectors) -> RowBytes {
        RowBytes {
            code: code.to_vec(),
            runs: 1,
            registers: registers.clone(),
            vectors,
            buffer: None,
        }
    }

    #[test]
    fn rows_find_the_same_content_in_the_buffer_every_time() {
        let registers =
            Rc::new(Registers { vectors: [[0; 8]; 32], general: [0; 16], masks: [0; 8] });
        let mut seen_words = [0u64; 2];
        // mov rcx, [rbx - 512]; mov rdx, [rbx + 504]; mov [rsi], rcx; mov [rsi + 8], rdx; mov
        // [rbx - 512], rbx
        let code =
            [
                &[
                    0x48, 0x8b, 0x8b, 0x00, 0xfe, 0xff, 0xff, 0x48, 0x8b, 0x93, 0xf8, 0x01, 0x00,
                    0x00,
                ][..],
                &[
                    0x48, 0x89, 0x0e, 0x48, 0x89, 0x56, 0x08, 0x48, 0x89, 0x9b, 0x00, 0xfe, 0xff,
                    0xff,
                ],
            ]
            .concat();
        let mut general = registers.general;
        general[6] = seen_words.as_mut_ptr() as u64;
        let registers = Rc::new(Registers { general, ..*registers });
        let mut row = row(&code, &registers, Vectors::Sse);
        row.buffer = Some(Buffer { word: 77, holds_address: false, pointers: 1 << 3 });
        let rows = EncodedRows::new(std::slice::from_ref(&row)).unwrap();
        for _ in 0..2 {
            rows.run(0, fake::read);
            assert_eq!(std::hint::black_box(&seen_words), &[77, 77]);
        }
        // mov rcx, [rbx]; mov rdx, [rcx]; mov [rsi], rbx; mov [rsi + 8], rdx: the content is the
        // address that it is read from.
        row.code =
            vec![0x48, 0x8b, 0x0b, 0x48, 0x8b, 0x11, 0x48, 0x89, 0x1e, 0x48, 0x89, 0x56, 0x08];
        row.buffer = Some(Buffer { word: 0, holds_address: true, pointers: 1 << 3 });
        EncodedRows::new(&[row]).unwrap().run(0, fake::read);
        let seen = std::hint::black_box(&seen_words);
        assert!(seen[0] != 0 && seen[0] == seen[1], "{seen:?}");
    }

    #[test]
    fn code_runs_as_often_as_it_is_told_to() {
        let mut cell = 0u64;
        let mut general = [0; 16];
        general[0] = &raw mut cell as u64;
        let registers = Rc::new(Registers { vectors: [[0; 8]; 32], general, masks: [0; 8] });
        // add qword ptr [rax], 1; add qword ptr [rax], 2
        let code = [0x48, 0x83, 0x00, 0x01, 0x48, 0x83, 0x00, 0x02];
        for runs in [1, 2, 16, 100] {
            let rows =
                [runs, 1].map(|runs| RowBytes { runs, ..row(&code, &registers, Vectors::Sse) });
            let rows = EncodedRows::new(&rows).unwrap();
            let before = *std::hint::black_box(&cell);
            rows.run(0, fake::read);
            assert_eq!(std::hint::black_box(&cell) - before, 3 * u64::from(runs));
            rows.run(1, fake::read);
            assert_eq!(std::hint::black_box(&cell) - before, 3 * u64::from(runs) + 3);
        }
    }

    #[test]
    fn every_register_has_its_value_and_the_rest_of_the_program_goes_on() {
        let mut cell = 0u64;
        let mut general: [u64; 16] = std::array::from_fn(|at| at as u64);
        general[0] = &raw mut cell as u64;
        let vectors = std::array::from_fn(|at| [100 + at as u64; 8]);
        let registers = Rc::new(Registers { vectors, general, masks: [0; 8] });
        // mov [rax], rREG
        let store =
            |register: u8| vec![0x48 | if register > 7 { 4 } else { 0 }, 0x89, (register & 7) << 3];
        // movq [rax], xmmREG
        let store_vector = |register: u8| {
            let prefix: &[u8] = if register > 7 { &[0x66, 0x44] } else { &[0x66] };
            [prefix, &[0x0f, 0xd6, (register & 7) << 3]].concat()
        };
        fake::set(fake::Settings { per_read: 10, ..fake::Settings::default() });
        for register in (1..16).filter(|register| *register != 4) {
            let rows =
                EncodedRows::new(&[row(&store(register), &registers, Vectors::Sse)]).unwrap();
            assert_eq!((rows.run(0, fake::read), rows.len()), (10, 1));
            assert_eq!(std::hint::black_box(&cell), &u64::from(register));
        }
        for register in 0..16 {
            let rows = EncodedRows::new(&[row(&store_vector(register), &registers, Vectors::Sse)])
                .unwrap();
            rows.run(0, fake::read);
            assert_eq!(std::hint::black_box(&cell), &(100 + u64::from(register)));
        }
    }

    #[test]
    fn rows_write_the_flags_before_they_read_them() {
        let mut cell = 0u64;
        let mut general = [1; 16];
        general[3] = &raw mut cell as u64;
        let registers = Rc::new(Registers { vectors: [[0; 8]; 32], general, masks: [0; 8] });
        // sete al; mov [rbx], rax: before the call the kind of the vectors was compared with zero,
        // which it is.
        let code = [0x0f, 0x94, 0xc0, 0x48, 0x89, 0x03];
        EncodedRows::new(&[row(&code, &registers, Vectors::Sse)]).unwrap().run(0, fake::read);
        assert_eq!(
            std::hint::black_box(&cell),
            &0,
            "the row reads a flag that was written before its call"
        );
    }

    #[test]
    fn wide_registers_are_loaded_where_the_cpu_has_them() {
        let mut cell = [0u64; 8];
        let mut general = [0; 16];
        general[0] = cell.as_mut_ptr() as u64;
        let vectors = std::array::from_fn(|at| std::array::from_fn(|lane| (8 * at + lane) as u64));
        let registers = Rc::new(Registers {
            vectors,
            general,
            masks: std::array::from_fn(|at| 900 + at as u64),
        });
        if std::arch::is_x86_feature_detected!("avx") {
            // vmovups [rax], ymm9
            EncodedRows::new(&[row(&[0xc5, 0x7c, 0x11, 0x08], &registers, Vectors::Avx)])
                .unwrap()
                .run(0, fake::read);
            assert_eq!(std::hint::black_box(&cell)[..4], [72, 73, 74, 75]);
        }
        if std::arch::is_x86_feature_detected!("avx512bw") {
            // vmovups [rax], zmm3
            let code = [0x62, 0xf1, 0x7c, 0x48, 0x11, 0x18];
            EncodedRows::new(&[row(&code, &registers, Vectors::Avx512)])
                .unwrap()
                .run(0, fake::read);
            assert_eq!(std::hint::black_box(&cell), &[24, 25, 26, 27, 28, 29, 30, 31]);
            // kmovq [rax], k5
            EncodedRows::new(&[row(&[0xc4, 0xe1, 0xf8, 0x91, 0x28], &registers, Vectors::Avx512)])
                .unwrap()
                .run(0, fake::read);
            assert_eq!(std::hint::black_box(&cell)[0], 905);
        }
    }
}
