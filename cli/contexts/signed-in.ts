import {object} from '../../src/base/json-object.ts'
import type {Environment} from '../environment.ts'
import {CommandFault, usageFault} from '../fault.ts'
import {answered, askGateway, interrupted, type SignInPlace, shortText} from './sign-in-gateway.ts'

/** A key that the gateway knows, and whose it is. */
export interface SignedIn {
  readonly kind: 'session' | 'key'
  readonly key: string
  /** E-mail address of the person, or name of the key. */
  readonly user: string
  readonly organisation: string | undefined
  readonly role: string | undefined
  readonly workspace: string | undefined
  /** ISO 8601 UTC; undefined for a key that never ends. */
  readonly expires_at: string | undefined
}

const SELF = '/v1/api-keys/self/details?include_organisation=true&include_workspace=true'
const SESSION = /^gs-/
/** Characters that a header can carry. */
const KEY = /^[\x21-\x7e]{1,8192}$/

/** The key that stdin holds, or that a person types without seeing it. */
export async function typedKey({stdinIsTTY, askHidden, readStdin}: Environment): Promise<string> {
  if (stdinIsTTY && !askHidden)
    throw usageFault(
      '--key-stdin reads a pipe, and stdin is the terminal.',
      'For example: cat key.txt | gateway login URL --key-stdin',
    )
  const text = stdinIsTTY ? await askHidden!('API key: ').catch(stopped) : await readStdin()
  const key = text.trim()
  if (KEY.test(key)) return key
  throw usageFault(key === '' ? 'There is no key on stdin.' : 'What stdin holds is no API key: it is one word.')
}

function stopped(): never {
  throw interrupted()
}

/** Of a key or a session: whose it is, as the gateway says. Refuses one that it does not know. */
export async function signedInWith(place: SignInPlace, key: string): Promise<SignedIn> {
  return SESSION.test(key) ? personOf(place, key) : ownerOf(place, key)
}

async function personOf(place: SignInPlace, key: string): Promise<SignedIn> {
  const body = await self(place, key, '/v1/auth/self')
  return {
    kind: 'session',
    key,
    user: shortText(body.user, 'email') ?? 'somebody',
    organisation: shortText(body.organisation, 'name'),
    role: shortText(body.organisation, 'role'),
    workspace: undefined,
    expires_at: moment(body.session),
  }
}

async function ownerOf(place: SignInPlace, key: string): Promise<SignedIn> {
  const body = await self(place, key, SELF)
  return {
    kind: 'key',
    key,
    user: shortText(body, 'name') ?? 'a key',
    organisation: shortText(body.organisation, 'name'),
    role: undefined,
    workspace: shortText(object(body.workspace), 'slug'),
    expires_at: moment(body),
  }
}

async function self(place: SignInPlace, key: string, path: string) {
  return answered(place, await askGateway(place, {method: 'GET', path}, key), 'Nothing was kept.')
}

function moment(value: unknown): string | undefined {
  const at_ms = Date.parse(shortText(value, 'expires_at') ?? '')
  return Number.isNaN(at_ms) ? undefined : new Date(at_ms).toISOString()
}

/**
 * Ends a session at its gateway: true where it is over, false where the gateway could not be reached or would not end
 * it.
 */
export async function revokeSession(place: SignInPlace, key: string): Promise<boolean> {
  try {
    const {status} = await askGateway(place, {method: 'POST', path: '/v1/auth/logout', body: {}}, key)
    return status < 300 || status === 401
  } catch (fault) {
    if (fault instanceof CommandFault) return false
    throw fault
  }
}
