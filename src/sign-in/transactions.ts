import {createHash, randomBytes} from 'node:crypto'
import {newId} from '../base/ids.ts'
import type {SsoConnection} from '../identity/connections.ts'
import {cookieIn} from '../identity/cookies.ts'
import {isEqual} from '../identity/page-proof.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import {countOpenSignIns, findSignIn, insertSignIn, useSignIn} from '../store/sign-ins.ts'
import type {SignInsTable} from '../store/tables/sign-in.ts'
import type {SignInServices} from './services.ts'

const LIFE_MS = 600_000
export const LIFE_S = LIFE_MS / 1000
const MOST_OPEN_A_MINUTE = 20
const MINUTE_MS = 60_000
const TAIL = 8

export interface SignInStart {
  readonly connection: SsoConnection
  readonly return_to: string
  readonly client_ip: string
  /** The user of the live session that the browser holds. */
  readonly user_id: string | null
  readonly invite_id: string | null
  /** Of a SAML request. */
  readonly request_id: string | null
}

/** Values that only the provider and this gateway know. */
export interface SignInSecrets {
  readonly nonce: string
  readonly code_verifier: string
}

/** A sign-in that was begun: `state` goes to the provider, `browser` stays in a cookie. */
export interface BegunSignIn extends SignInSecrets {
  /** 43 characters. */
  readonly state: string
  readonly set_cookie: string
}

/** Begins a sign-in. Refuses with `too_many` an address that has begun many and ended none. */
export async function beginSignIn(services: SignInServices, start: SignInStart): Promise<BegunSignIn> {
  const {store, seal, cookies} = services
  const now = services.now()
  const {connection, client_ip} = start
  const [state, browser, nonce, code_verifier] = [word(), word(), word(), word()]
  const secrets: SignInSecrets = {nonce, code_verifier}
  const id = newId()
  const {organisation_id} = connection
  const place = secretsPlace({id, organisation_id})
  const row: SignInsTable = {
    ...{id, organisation_id, connection_id: connection.id, connection_revision: connection.revision},
    ...{type: connection.type, state_hash: hashOf(state), browser_hash: hashOf(browser)},
    secrets: seal.close(JSON.stringify(secrets), place),
    request_id: start.request_id,
    ...{return_to: start.return_to, user_id: start.user_id, invite_id: start.invite_id, client_ip},
    ...{handle_hash: null, result: null, used_at: null},
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + LIFE_MS).toISOString(),
  }
  await store.write(async db => {
    const since = new Date(now.getTime() - MINUTE_MS).toISOString()
    const open = await countOpenSignIns(db, client_ip, {since, now: row.created_at})
    if (open >= MOST_OPEN_A_MINUTE) throw new SignInFault('too_many', `${open} sign-ins of one address are open`)
    await insertSignIn(db, row)
  })
  return {state, ...secrets, set_cookie: cookies.set(cookies.login(tailOfRow(row)), browser, LIFE_S)}
}

/** The open sign-in of `state`, in the browser that began it. Whether it is used is said when it is used up. */
export async function foundSignIn(
  services: SignInServices,
  state: string | null,
  {cookie, onFound}: {readonly cookie: string | undefined; readonly onFound?: (row: SignInsTable) => void},
): Promise<SignInsTable> {
  if (state === null || !/^[\w-]{43}$/.test(state)) throw new SignInFault('transaction_unknown', 'no state came back')
  const row = await findSignIn(services.store.db, {state_hash: hashOf(state)})
  if (!row) throw new SignInFault('transaction_unknown', 'the state is of no sign-in that was begun here')
  onFound?.(row)
  requireOpen(row, services.now())
  requireBrowser(row, cookieIn(cookie, services.cookies.login(tailOfRow(row))))
  return row
}

/**
 * Does the last part of a sign-in. One that is refused there is over: its code is spent, and a browser has to begin
 * again. While a provider does not answer it stays open.
 */
export async function endingIfRefused<T>(
  {store, now}: Pick<SignInServices, 'store' | 'now'>,
  {id}: SignInsTable,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    const is_over = fault instanceof SignInFault && fault.status < 500
    if (is_over) await store.write(db => useSignIn(db, id, now().toISOString()))
    throw fault
  }
}

export function requireOpen({used_at, expires_at}: SignInsTable, now: Date) {
  if (used_at !== null) throw new SignInFault('transaction_used', `the sign-in was ended at ${used_at}`)
  if (expires_at <= now.toISOString())
    throw new SignInFault('transaction_expired', `the sign-in expired at ${expires_at}`)
}

/** Without the cookie someone else would be signed in here: he could have begun it and passed on the answer. */
export function requireBrowser({browser_hash}: SignInsTable, browser: string | undefined) {
  if (browser === undefined) throw new SignInFault('browser_foreign', 'the browser sent no cookie of this sign-in')
  if (!isEqual(hashOf(browser), browser_hash))
    throw new SignInFault('browser_foreign', 'the cookie is of another sign-in')
}

/** The connection of a sign-in, as it was when it began. */
export function requireUnchanged(row: SignInsTable, connection: SsoConnection | undefined): SsoConnection {
  if (!connection) throw new SignInFault('transaction_expired', 'the connection is gone or switched off')
  if (connection.revision !== Number(row.connection_revision))
    throw new SignInFault('transaction_expired', 'the connection was changed since the sign-in began')
  return connection
}

export function openedSecrets({id, organisation_id, secrets}: SignInsTable, {seal}: SignInServices): SignInSecrets {
  if (!secrets) throw new SignInFault('transaction_used', 'the sign-in was ended')
  return JSON.parse(seal.open(secrets, secretsPlace({id, organisation_id}))) as SignInSecrets
}

/** The end of the name of a sign-in's cookie: each tab has one of its own. */
export function tailOfRow({state_hash}: Pick<SignInsTable, 'state_hash'>): string {
  return state_hash.slice(0, TAIL)
}

/** 32 random bytes in 43 characters. */
export function word(): string {
  return randomBytes(32).toString('base64url')
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function secretsPlace({id, organisation_id}: Pick<SignInsTable, 'id' | 'organisation_id'>) {
  return {table: 'sign_ins', column: 'secrets', row: id, organisation_id}
}
