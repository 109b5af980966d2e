import {createHash, randomInt} from 'node:crypto'
import {Refusal} from '../base/errors.ts'
import {newId} from '../base/ids.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import type {Db} from '../store/database.ts'
import {countOpenCodes, insertLoginCode} from '../store/login-codes.ts'
import type {LoginCodesTable} from '../store/tables/sign-in.ts'
import type {SignInServices} from './services.ts'
import {hashOf, word} from './transactions.ts'

/** Consonants: no code spells a word, and no letter looks like another. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LETTERS = 8
export const DEVICE_LIFE_S = 600
export const DEVICE_INTERVAL_S = 5
const BROWSER_LIFE_S = 60
const MOST_OPEN = 10
const LONGEST_HOST = 200

/** The codes of a command line that waits: one for it, one for its person to type. */
export interface DeviceCodes {
  readonly device_code: string
  /** `BCDF-GHJK` */
  readonly user_code: string
}

/** Makes the codes of a command line on a machine without a browser (RFC 8628 §3.2). */
export async function beginDevice(
  services: SignInServices,
  {client, host, client_ip}: {readonly client: string; readonly host: string; readonly client_ip: string},
): Promise<DeviceCodes> {
  const {store} = services
  const now = services.now()
  const device_code = word()
  const letters = Array.from({length: CODE_LETTERS}, () => LETTERS[randomInt(LETTERS.length)]).join('')
  const row = newCode(now, DEVICE_LIFE_S, {kind: 'device', code_hash: hashOf(device_code), client, host, client_ip})
  await store.write(async db => {
    const open = await countOpenCodes(db, client_ip, row.created_at)
    if (open >= MOST_OPEN) throw new SignInFault('too_many', `${open} codes of one address are open`)
    await insertLoginCode(db, {...row, user_code_hash: hashOf(letters)})
  })
  return {device_code, user_code: `${letters.slice(0, 4)}-${letters.slice(4)}`}
}

/** A command line that waits on a port of its person's own machine. */
export interface WaitingCommand {
  readonly port: number
  readonly state: string
  /** SHA-256 in base64url of what it exchanges the code with (RFC 7636). */
  readonly challenge: string
  readonly host: string
}

/** A command line that waits, as one word for the address of a page. */
export function commandWord(command: WaitingCommand): string {
  return Buffer.from(JSON.stringify(command)).toString('base64url')
}

/** The command line of a word; refuses what is none. */
export function readCommand(word: string): WaitingCommand {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(word, 'base64url').toString('utf8'))
  } catch {
    value = null
  }
  const {port, state, challenge, host} = (value ?? {}) as Partial<WaitingCommand>
  const is_port = Number.isInteger(port) && port! > 1023 && port! < 65_536
  const are_words = typeof state === 'string' && /^[\w-]{16,255}$/.test(state) && isChallenge(challenge)
  const is_host = typeof host === 'string' && host.length <= LONGEST_HOST && !host.includes('\0')
  if (!is_port || !are_words || !is_host)
    throw new Refusal('body.invalid', {issues: 'request: is none of gateway login. Start it again.'})
  return {port: port!, state, challenge: challenge!, host}
}

function isChallenge(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{43}$/.test(text)
}

/** The code with which a command line gets the session that its person allowed, once within a minute. */
export async function allowCommand(
  db: Db,
  {
    command,
    now,
    confirmed,
  }: {
    readonly command: WaitingCommand
    readonly now: Date
    readonly confirmed: Pick<
      LoginCodesTable,
      | ('organisation_id' | 'user_id' | 'method' | 'connection_id')
      | ('idp_session' | 'idp_subject' | 'session_ends_at' | 'client_ip')
    >
  },
): Promise<{readonly id: string; readonly code: string}> {
  const code = word()
  const {client_ip, ...of} = confirmed
  const known = {
    kind: 'browser',
    code_hash: hashOf(code),
    client: 'gateway-cli',
    host: command.host,
    client_ip,
  } as const
  const row = newCode(now, BROWSER_LIFE_S, known)
  await insertLoginCode(db, {...row, ...of, challenge: command.challenge, status: 'confirmed'})
  return {id: row.id, code}
}

/** The letters of a code as a person typed it, without spaces and hyphens; undefined for what is no code. */
export function readUserCode(text: string): string | undefined {
  const letters = text.toUpperCase().replace(/[\s-]/g, '')
  return new RegExp(`^[${LETTERS}]{${CODE_LETTERS}}$`).test(letters) ? letters : undefined
}

/** True when the verifier is the one of a challenge (RFC 7636, S256). */
export function isVerifier(verifier: string, challenge: string): boolean {
  return createHash('sha256').update(verifier).digest('base64url') === challenge
}

function newCode(
  now: Date,
  life_s: number,
  known: Pick<LoginCodesTable, 'kind' | 'code_hash' | 'client' | 'host' | 'client_ip'>,
): LoginCodesTable {
  return {
    ...known,
    id: newId(),
    host: known.host.slice(0, LONGEST_HOST),
    ...{user_code_hash: null, challenge: null, status: 'pending', organisation_id: null, user_id: null},
    ...{method: null, connection_id: null, session_ends_at: null, interval_s: DEVICE_INTERVAL_S, polled_at: null},
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + life_s * 1000).toISOString(),
  }
}
