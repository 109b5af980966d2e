import {OPERATIONS, OPERATOR_OPERATIONS} from '../../src/admin/registry.ts'
import {startAdmin} from './admin.ts'
import {type DnsAnswer, dnsServer, NO_NAME} from './dns-server.ts'
import type {StoreKind} from './stores.ts'

/** A domain as the administration shows it. */
export interface DomainSeen {
  readonly id: string
  readonly domain: string
  readonly status: string
  readonly proof: string | null
  readonly verification: {dns_name: string; dns_value: string; mail_to: string[]} | null
  readonly verified_at: string | null
  readonly looked_at: string | null
  readonly lost_at: string | null
}

const PATH = '/v1/admin/organisation/domains'

/** An administration with a name server of its own, whose records tests write. */
export async function domainHouse(kind: StoreKind = 'sqlite') {
  const records = new Map<string, DnsAnswer>()
  const names = await dnsServer(name => (records.has(name) ? records.get(name)! : NO_NAME))
  const env = {DOMAIN_DNS_SERVERS: names.address}
  const admin = await startAdmin({kind, env, operations: [...OPERATIONS, ...OPERATOR_OPERATIONS]})
  return {
    admin,
    env,
    records,
    /** Names in questions to the name server. */
    asked: names.asked,
    /** An organisation of its own, by its admin key. */
    async organisation() {
      const {organisation_id, admin: key} = await admin.foreign()
      const send = (method: string, path: string, body?: object) => admin.send(key.key, method, path, body)
      return {
        organisation_id,
        send,
        async claim(domain: string): Promise<DomainSeen> {
          const {status, body, text} = await send('POST', PATH, {domain})
          if (status !== 200) throw new Error(text)
          return body
        },
        verify: (domain: string, body: object = {method: 'dns'}) => send('POST', `${PATH}/${domain}/verify`, body),
        async list(): Promise<DomainSeen[]> {
          return (await send('GET', PATH)).body.data
        },
        remove: (domain: string) => send('DELETE', `${PATH}/${domain}`),
        /** Of the audit log, newest first: how each try ended. */
        async tries(): Promise<[status: number, body: object][]> {
          const rows = (await admin.auditLog()).filter(row => row.organisation_id === organisation_id).reverse()
          return rows.map(({status, request_body}) => [status, JSON.parse(request_body ?? 'null')])
        },
      }
    },
    publish({verification}: DomainSeen, ...others: string[]) {
      records.set(verification!.dns_name, [...others.map(each => [each]), [verification!.dns_value]])
    },
    async close() {
      await admin.close()
      names.close()
    },
  }
}

export type DomainHouse = Awaited<ReturnType<typeof domainHouse>>
export type DomainOwner = Awaited<ReturnType<DomainHouse['organisation']>>
