import {LibraryFault} from '../src/base/runtime.ts'
import {StoreSilentFault, StoreUnwritableFault} from '../src/base/store-fault.ts'

/** How a command ends (decisions: CLI). */
export const EXIT = {
  ok: 0,
  /** Failed; faults of the gateway (5xx), a port in use, a full disk and a missing data directory too. */
  failure: 1,
  /** A wrong command line, wrong settings, or input that was refused (400). */
  usage: 2,
  not_found: 3,
  /** Not allowed, in conflict or above a limit: 401, 403, 409, 412, 429. */
  refused: 4,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

interface FaultParts {
  readonly exit: ExitCode
  /** A word for scripts: `usage`, `unreachable`, or the code of the gateway's refusal. */
  readonly code: string
  /** HTTP status of the refusal, where there was one. */
  readonly status?: number
  /** The next step, one sentence. */
  readonly next?: string
  readonly cause?: unknown
}

/** The command cannot continue; `message` is for the person who gave it. */
export class CommandFault extends Error {
  readonly exit: ExitCode
  readonly code: string
  readonly status: number | null
  readonly next: string | undefined

  constructor(message: string, {exit, code, status, next, cause}: FaultParts) {
    super(message, {cause})
    this.name = 'CommandFault'
    this.exit = exit
    this.code = code
    this.status = status ?? null
    this.next = next
  }
}

/** The words of the command are wrong. */
export function usageFault(message: string, next?: string): CommandFault {
  return new CommandFault(message, {exit: EXIT.usage, code: 'usage', ...(next && {next})})
}

/** The exit code of a reply with an error status. */
export function exitOf(status: number): ExitCode {
  if (status === 404) return EXIT.not_found
  if ([401, 403, 409, 412, 429].includes(status)) return EXIT.refused
  return status >= 400 && status < 500 && status !== 408 && status !== 499 ? EXIT.usage : EXIT.failure
}

const DAMAGED =
  'A database of the data directory is damaged. Stop the gateway, keep a copy of the directory, and put both databases back from one backup.'

const SYSTEM: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space where the data directory is, and try again.',
  SQLITE_FULL: 'The disk is full. Free some space where the data directory is, and try again.',
  EDQUOT: 'The disk quota is used up. Free some space where the data directory is, and try again.',
  EROFS: 'The file system is read-only. Choose another data directory with --data-dir.',
  EMFILE: 'This process may open no more files. Raise the limit (ulimit -n), and try again.',
  SQLITE_READONLY: 'You may not write the database. Run the command as the user the data directory belongs to.',
  SQLITE_CANTOPEN: 'You may not open the database. Run the command as the user the data directory belongs to.',
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  SQLITE_BUSY: 'Another process kept the database busy for too long. Try again.',
  SQLITE_IOERR: 'The disk of the data directory fails. Check it, or choose another data directory with --data-dir.',
  EIO: 'The disk of the data directory fails. Check it, or choose another data directory with --data-dir.',
}

/** Why a path of the system could not be used. */
const PATHS: Readonly<Record<string, string>> = {
  EACCES: 'you may not use it',
  EPERM: 'you may not use it',
  ENOTDIR: 'a part of it is no directory',
  EISDIR: 'it is a directory',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'it is too long',
}

/** Anything thrown, as a fault with a sentence. An unforeseen error keeps its stack, in `cause`. */
export function faultOf(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error
  const failed = (sentence: string, code: string, next?: string) =>
    new CommandFault(sentence, {exit: EXIT.failure, code, cause: error, ...(next && {next})})
  if (error instanceof StoreSilentFault)
    return failed(error.message, 'store_silent', error.cure ?? 'Try again when it does.')
  if (error instanceof StoreUnwritableFault)
    return failed(error.message, 'store_unwritable', error.cure ?? 'Try again when it can.')
  if (error instanceof LibraryFault) return failed(error.message, 'library')
  const {code = '', syscall, path} = (error instanceof Error ? error : {}) as NodeJS.ErrnoException
  if (syscall === 'uv_cwd')
    return failed('The working directory was removed.', 'working_directory', 'Change to another one, and try again.')
  // SQLite's codes name the case behind an underscore: SQLITE_IOERR_WRITE
  const known = SYSTEM[code] ?? SYSTEM[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? '']
  if (known) return failed(known, code.toLowerCase())
  if (path !== undefined && PATHS[code])
    return failed(`${path} cannot be used: ${PATHS[code]}.`, code.toLowerCase(), 'Check its owner and its mode.')
  const message = error instanceof Error ? error.message : String(error)
  return failed(`Something went wrong inside the gateway: ${message}`, 'internal')
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
}

/** Why a file could not be used, to follow a colon. */
export function fileReason(error: unknown): string {
  const code = error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? '') : ''
  return REASONS[code] ?? (code || String(error))
}
