import type {FastifyReply, FastifyRequest} from 'fastify'
import type {SsoConnection} from '../identity/connections.ts'
import type {Statement} from '../identity/statement.ts'
import type {SignInsTable} from '../store/tables/sign-in.ts'
import {clientOf, cookieToken, heldSession, sendOn} from './caller.ts'
import {type Finished, finishSignIn} from './finish.ts'
import type {SignInServices} from './services.ts'
import {tailOfRow} from './transactions.ts'

export interface Verified {
  readonly connection: SsoConnection
  readonly statement: Statement
  readonly row: SignInsTable | null
  /** ISO 8601 UTC. */
  readonly begun_at: string
  readonly holders: number | null
  readonly return_to: string
  readonly notes: readonly string[]
}

/** Lets a verified person in: his session goes into a cookie, and the browser to where he wanted. */
export async function letIn(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SignInServices,
  verified: Verified,
) {
  const {row, connection, statement, begun_at, holders, notes} = verified
  const finished = await finishSignIn(services, {
    ...{connection, statement, row, begun_at, holders, notes, client: clientOf(request)},
    user_id: row ? row.user_id : ((await heldSession(request, services))?.session.user_id ?? null),
    invite_id: row?.invite_id ?? null,
    replaces: cookieToken(request, services),
  })
  reply.header('set-cookie', cookiesOf(services, finished, row))
  return sendOn(request, reply, verified.return_to)
}

function cookiesOf({cookies}: SignInServices, {session}: Finished, row: SignInsTable | null): string[] {
  const set = cookies.set(cookies.session, session.token)
  return row ? [set, cookies.set(cookies.login(tailOfRow(row)), '', 0)] : [set]
}
