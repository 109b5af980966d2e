import pino from 'pino'

/** The log of the process: JSON lines, or plain lines on a terminal. */
export type Log = Pick<pino.Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  /** Lines of less weight are not written. */
  level?: string
  /** Gives every line that is written to `write` as well, secrets cut out; what it gives ends that. */
  readonly copyTo?: (write: (line: string) => void) => () => void
}

const SECRET_NAMES = [
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'set-cookie',
  'x-gateway-api-key',
  'x-portkey-api-key',
  'key',
  'password',
  'secret',
  'token',
  'api_key',
]
/** Texts that look like a key: bearer tokens, keys of ours, and the well-known shapes of others. */
const SECRET_SHAPES =
  /(Bearer\s+)[^\s"']+|\b(gk-|sk-|pk-|rk-|xai-|gsk_|AKIA|AIza|hf_|ghp_|glpat-)[A-Za-z0-9_-]{12,}|(:\/\/[^/\s:@]+:)[^@\s/]+(?=@)/g

/** A log that writes lines of at least `level` to `write` (stderr by default), with secrets cut out. */
export function createLog(
  level: string,
  service: string,
  write: (line: string) => void = line => void process.stderr.write(line),
): Log {
  const copies = new Set<(line: string) => void>()
  const logger = pino(
    {
      level,
      base: {service},
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {level: label => ({level: label})},
      serializers: {fault: plainFault, err: plainFault},
      redact: {
        paths: SECRET_NAMES.flatMap(name => [`["${name}"]`, `*["${name}"]`, `headers["${name}"]`]),
        censor: '***',
      },
    },
    {
      write(line) {
        const plain = redacted(line)
        write(plain)
        for (const copy of copies) copy(plain)
      },
    },
  )
  return Object.assign(logger, {
    copyTo(copy: (line: string) => void) {
      copies.add(copy)
      return () => void copies.delete(copy)
    },
  })
}

/** `text` with everything that looks like a key cut out. */
export function redacted(text: string): string {
  return text.replace(
    SECRET_SHAPES,
    (_, bearer?: string, shape?: string, url?: string) => `${bearer ?? shape ?? url ?? ''}***`,
  )
}

function plainFault(fault: unknown): unknown {
  if (!(fault instanceof Error)) return fault
  const {name, message, stack, cause} = fault
  const code = (fault as NodeJS.ErrnoException).code
  return {name, message, ...(code ? {code} : {}), stack, ...(cause === undefined ? {} : {cause: plainFault(cause)})}
}
