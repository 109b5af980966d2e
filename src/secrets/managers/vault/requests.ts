import {readBaseUrl} from '../../../base/egress/base-url.ts'
import {list, object, parsed} from '../../../base/json-object.ts'
import {memberText} from '../../../base/json-splice.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerReply, ManagerRequest, ManagerServices} from '../../services.ts'
import {isPassing, retryAfterOf} from '../patience.ts'
import {type SecretPlace, textOf} from '../reading.ts'

/** Answers that a node gives that cannot serve now: sealed, a standby, behind another. */
const PASSING = new Set([412, 472, 473])

/** The server of a login, and its namespace. */
export class VaultServer {
  readonly hostname: string
  readonly #on: ManagerServices
  readonly #url: string
  readonly namespace: string | null

  constructor(on: ManagerServices, login: SecretPlace['login']) {
    this.#on = on
    this.#url = (textOf(login, 'vault_addr') ?? '').trim().replace(/\/$/, '')
    this.namespace = textOf(login, 'vault_namespace')
    this.hostname = readBaseUrl(this.#url).hostname
  }

  /** `path` after `/v1/`, encoded. */
  async ask(
    method: 'GET' | 'POST',
    path: string,
    {token = null, body}: {readonly token?: string | null; readonly body?: object} = {},
  ): Promise<ManagerReply> {
    const request = {
      method,
      url: `${this.#url}/v1/${path}`,
      headers: {
        accept: 'application/json',
        'x-vault-request': 'true',
        ...(token !== null && {'x-vault-token': token}),
        ...(this.namespace !== null && {'x-vault-namespace': this.namespace}),
        ...(body && {'content-type': 'application/json'}),
      },
      ...(body && {body: JSON.stringify(body)}),
    }
    const reply = await this.#on.fetch(request)
    return reply.status === 307 ? this.#follow(request, reply) : reply
  }

  /** A standby names the active node. The token goes there if that is the same host, or one of the operator's. */
  #follow(request: ManagerRequest, {headers, status}: ManagerReply): Promise<ManagerReply> {
    const place = URL.parse(headers.location ?? '', request.url)
    const hostname = place?.hostname.replace(/^\[(.*)\]$/, '$1')
    const is_downgrade = request.url.startsWith('https:') && place?.protocol !== 'https:'
    const is_ours = hostname !== undefined && (hostname === this.hostname || this.#on.isNamedHost(hostname))
    if (!place || !is_ours || is_downgrade)
      throw new ManagerFault('unreachable', 'Vault answers with a redirect to another host', {status})
    return this.#on.fetch({...request, url: place.href})
  }

  /** The fault of an answer that is not 200. */
  fault({status, body, headers}: ManagerReply, what = 'Vault gave no secret'): ManagerFault {
    const reply = {status, body, headers}
    const facts = {status, retry_after_ms: retryAfterOf(reply, this.#on.wall())}
    if (status === 429) return new ManagerFault('throttled', what, facts)
    if (isPassing(status) || PASSING.has(status)) return new ManagerFault('unreachable', what, facts)
    if (status === 403) return new ManagerFault('denied', what, facts)
    if (status === 404) return missing(reply, what)
    if (status === 400) return new ManagerFault('denied', what, facts)
    return new ManagerFault(status >= 400 ? 'unusable' : 'unreachable', what, facts)
  }
}

/** A deleted version is a 404 whose data says when. */
function missing({status, body}: ManagerReply, what: string): ManagerFault {
  const {data, errors} = object(parsed(body))
  const is_deleted = typeof object(object(data).metadata).deletion_time === 'string'
  if (!is_deleted && !Array.isArray(errors))
    return new ManagerFault('unreachable', 'Something that is no Vault answers at vault_addr', {status})
  const code = is_deleted ? 'deleted' : list(errors).length === 0 ? null : 'no_handler'
  return new ManagerFault('missing', what, {status, code})
}

/** The text of `data`, then of `data` in it and so on, with numbers as they are written. */
export function dataText(body: string, ...names: readonly string[]): string | undefined {
  return names.reduce<string | undefined>(
    (text, name) => (text?.trimStart().startsWith('{') ? memberText(text, name) : undefined),
    parsed(body) === undefined ? undefined : body,
  )
}
