import {requestOf} from '../../../cli/connect.ts'
import type {AnyOperation} from '../../../src/admin/operation.ts'
import {scopesOf} from '../../../src/identity/scopes.ts'
import type {Admin} from '../../support/admin.ts'
import type {Person} from '../../support/people.ts'
import type {Asked} from '../matrix-rows.ts'
import {askedInFull} from './asked.ts'
import type {Fact} from './facts.ts'
import {differences, valuesAt} from './fits.ts'
import type {Furnished} from './rows.ts'
import {type Described, knows} from './schema.ts'
import {without} from './without.ts'

/** What one operation is walked with. */
export interface Walked {
  readonly fact: Fact
  readonly operation: AnyOperation
  readonly described: Described
  readonly place: Furnished
}

/** Asks an operation for all that is said of it, and says each way in which it differs: `reply data[].id: absent`. */
export async function walk(
  admin: Admin,
  owner: Person,
  {fact, operation, described, place}: Walked,
): Promise<string[]> {
  const asked = askedInFull(operation.id, place)
  const key = operation.id === 'logs.insert' ? place.workspace_key : owner.token
  const send = (by: string, {params = {}, query = {}, body}: Asked) => {
    const {method, path} = requestOf(operation, {params, query})
    return admin.send(by, method, path, body)
  }
  const refuses = async (less: Asked, name: string) => {
    const {status, body} = await send(key, less)
    return status === 400 && body.data.errorCode === 'AB01' && new RegExp(`\\b${name}\\b`).test(body.data.message)
  }
  return [
    ...fact.scopes.filter(scope => !operation.scopes?.includes(scope)).map(scope => `scope ${scope}: not enough`),
    ...(await withoutScope()),
    ...fact.query
      .filter(({name}) => !described.parameters.some(each => each.name === name))
      .map(({name}) => `query ${name}: not taken`),
    ...fact.body.filter(({name}) => !isTaken(name)).map(({name}) => `body ${name}: not taken`),
    ...(await withoutEach()),
    ...(await whole()),
  ]

  /** A key with all scopes but those of the operation. */
  async function withoutScope(): Promise<string[]> {
    if (!operation.scopes) return []
    const scopes = [...scopesOf('organisation-service')].filter(scope => !operation.scopes!.includes(scope))
    const {key: lesser} = await admin.seedKey({organisation_id: admin.organisation_id}, {scopes})
    const {status, body} = await send(lesser, asked[0]!)
    return status === 403 && body.data.errorCode === 'AB03' ? [] : [`without its scopes: ${status}`]
  }

  function isTaken(name: string): boolean {
    const schema = described.requestBody?.content['application/json'].schema
    return asked.some(({body}) => valuesAt(body, name).length > 0) || (schema !== undefined && knows(schema, name))
  }

  async function withoutEach(): Promise<string[]> {
    const found: string[] = []
    for (const {name, is_required} of fact.body) {
      if (!is_required || !isTaken(name)) continue
      const lesser = asked
        .map(each => ({...each, body: without(each.body, name)}))
        .filter(({body}) => body !== undefined)
      if (!lesser.length) found.push(`body ${name}: not asked`)
      for (const each of lesser) {
        if (await refuses(each, name.split(/[.[\]]+/).at(-1)!)) continue
        found.push(`body ${name}: not required`)
        break
      }
    }
    for (const {name, is_required} of fact.query) {
      const {[name]: _, ...query} = asked[0]!.query ?? {}
      if (is_required && !(await refuses({...asked[0]!, query}, name))) found.push(`query ${name}: not required`)
    }
    return found
  }

  async function whole(): Promise<string[]> {
    const replies: unknown[] = []
    for (const each of asked) {
      const {status, body, text} = await send(key, each)
      if (status !== fact.status) return [`status: ${status} ${text}`]
      replies.push(body)
    }
    return fact.reply.flatMap(field => differences(field, replies).map(how => `reply ${field.name}: ${how}`))
  }
}
