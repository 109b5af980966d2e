import {StoreSilentFault, StoreUnwritableFault} from '../../base/store-fault.ts'

/**
 * Classifies a fault of PostgreSQL or of its connection as all planes distinguish them: silent, unwritable, and any
 * other error, which is an answer and stays as it is. `is_lost`: the connection broke, so nothing that it threw is an
 * answer.
 */
export function classified(error: unknown, is_lost: boolean): unknown {
  if (error instanceof StoreSilentFault || error instanceof StoreUnwritableFault) return error
  const code = codeOf(error)
  const unwritable = UNWRITABLE[code]
  if (unwritable) return new StoreUnwritableFault(unwritable.reason, {cause: error, cure: unwritable.cure})
  const reason = SILENT.find(([pattern]) => pattern.test(code))?.[1]
  if (reason ?? is_lost) return new StoreSilentFault('PostgreSQL', reason ?? silenceOf(error), {cause: error})
  return error
}

/** Why no connection could be had, whatever it was: without one nothing was done. */
export function unreachable(error: unknown): StoreSilentFault {
  return error instanceof StoreSilentFault
    ? error
    : new StoreSilentFault('PostgreSQL', silenceOf(error), {cause: error, cure: cureOf(error)})
}

/** Codes of PostgreSQL (manual, appendix A) that say "not now" in place of an answer. */
const SILENT: readonly (readonly [RegExp, string])[] = [
  [/^08/, 'the connection failed'],
  [/^57P0[123]$/, 'it is starting or stopping'],
  [/^53300$/, 'it takes no more connections (max_connections)'],
  [/^53/, 'it has no resources left'],
  [/^25P0[34]$/, 'it ended a transaction that took too long'],
]

const UNWRITABLE: Readonly<Record<string, {readonly reason: string; readonly cure: string}>> = {
  53100: {reason: 'its disk is full', cure: 'Free some space where PostgreSQL is.'},
  25006: {
    reason: 'it may only be read, as a standby',
    cure: 'Name its primary in DATABASE_URL (or DB_HOST and DB_PORT).',
  },
}

/** Faults that an operator mends; the second word names what. */
const REASONS: readonly (readonly [RegExp, string, StartCure])[] = [
  [/ECONNREFUSED/, 'nothing listens at its address', 'address'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name is not known', 'address'],
  [/ENETUNREACH|EHOSTUNREACH/, 'no network leads to its address', 'address'],
  [/ENOENT/, 'its socket is not there', 'address'],
  [/^3D000/, 'there is no database of that name', 'database'],
  [/no encryption|no pg_hba\.conf entry/i, 'pg_hba.conf there lets nobody in from here in this way', 'both'],
  [/^28/, 'it refuses the user or the password', 'user'],
  [/password must be a string/i, 'it asks for a password', 'user'],
  [/URI malformed/i, 'a percent sign in the address is not written as %25', 'address'],
  [/does not support SSL/i, 'it offers no TLS', 'tls'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|EPROTO|ERR_SSL|ERR_TLS/i,
    'its certificate or its TLS is not accepted',
    'tls',
  ],
  [/time(?:d )?out|timeout|ETIMEDOUT/i, 'no answer came in time', 'address'],
  [/ECONNRESET|EPIPE|terminated|closed|not queryable/i, 'the connection was cut', 'address'],
]

type StartCure = 'address' | 'database' | 'user' | 'tls' | 'both'

function silenceOf(error: unknown): string {
  return SILENT.find(([pattern]) => pattern.test(codeOf(error)))?.[1] ?? known(error)?.[1] ?? 'the connection failed'
}

function known(error: unknown) {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : ''
  // the message comes before its code
  return REASONS.find(([pattern]) => pattern.test(message) || pattern.test(code))
}

const CURES: Readonly<Record<StartCure, string>> = {
  tls: 'Mend DB_SSL or DB_SSL_CA.',
  both: 'Mend DB_SSL, the user in DATABASE_URL (or DB_USER), or pg_hba.conf.',
  database: 'Create it, or mend the name in DATABASE_URL (or DB_NAME).',
  user: 'Mend user and password in DATABASE_URL (or DB_USER and DB_PASS).',
  address: 'Start PostgreSQL, or mend DATABASE_URL (or DB_HOST and DB_PORT).',
}

function cureOf(error: unknown): string {
  return CURES[known(error)?.[2] ?? 'address']
}

/** The code of PostgreSQL or of the system; that of the first where several addresses were tried. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
