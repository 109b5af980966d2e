import {object, parsed} from '../../../base/json-object.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerReply, ManagerServices} from '../../services.ts'
import {LoginMemory} from '../login-memory.ts'
import {ManagerPatience} from '../patience.ts'
import type {ReadSecret, SecretPlace, SecretRead} from '../reading.ts'
import {encodedPath, formBelow, formsOf, mountIn, type ReadForm, type TypedPath, typedPath} from './paths.ts'
import {dataText, VaultServer} from './requests.ts'
import {VaultSession} from './session.ts'

const MOST_FORMS = 1000

interface Opened {
  readonly key: string
  readonly server: VaultServer
  readonly session: VaultSession
  /** Path as typed → the form that worked. */
  readonly forms: Map<string, ReadForm>
}

/** HashiCorp Vault and OpenBao: the key-value engines of both versions. Source: Vault HTTP API. */
export function vaultManager(on: ManagerServices): ReadSecret {
  const patience = new ManagerPatience(on)
  const sessions = new LoginMemory<Opened>()
  return async ({login, path}: SecretPlace) => {
    const opened = sessions.of('vault', login, key => {
      const server = new VaultServer(on, login)
      return {key, server, session: new VaultSession({on, server, login}), forms: new Map()}
    })
    return patience.run(`${opened.server.hostname} ${opened.key}`, () => read(opened, path))
  }
}

async function read(opened: Opened, text: string): Promise<SecretRead> {
  const {forms} = opened
  const typed = typedPath(text)
  const known = forms.get(text)
  const tried = known ? [known] : await formsFor(opened, typed)
  for (const [at, form] of tried.entries()) {
    const reply = await readAt(opened, form.url_path)
    if (reply.status === 200) {
      if (forms.size >= MOST_FORMS) forms.clear()
      forms.set(text, form)
      return secretIn(reply, form)
    }
    const may_be_other = reply.status === 404 || reply.status === 403
    if (may_be_other && at < tried.length - 1 && !isDeleted(reply)) continue
    forms.delete(text)
    throw opened.server.fault(reply, sentenceOf(tried.slice(0, at + 1)) + hintOf(opened.server, typed))
  }
  throw new ManagerFault('unusable', 'Vault: secret_path names no secret')
}

/** Says every path that was tried: a wrong mount is seen by it. */
function sentenceOf(tried: readonly ReadForm[]): string {
  const paths = tried.map(({url_path}) => url_path.slice(0, 300)).join(' and ')
  return `Vault gave no secret at ${paths}`
}

/** Vault puts the namespace before the path: typed there too, it is there twice. */
function hintOf({namespace}: VaultServer, {path}: TypedPath): string {
  const name = namespace?.replace(/^\/+|\/+$/g, '')
  return name && path.startsWith(`${name}/`)
    ? `: the namespace ${name} belongs to vault_namespace alone, and not to secret_path`
    : ''
}

/** By the mount, where Vault reports it; else those that it may be. */
async function formsFor(opened: Opened, typed: TypedPath): Promise<readonly ReadForm[]> {
  const {server, session} = opened
  const token = await session.token()
  const reply = await server.ask('GET', `sys/internal/ui/mounts/${encodedPath(typed.path)}`, {token})
  const mount = reply.status === 200 ? mountIn(reply) : null
  if (mount) return [formBelow(mount, typed)]
  if (reply.status !== 200 && reply.status !== 403 && reply.status !== 404 && reply.status !== 400)
    throw server.fault(reply)
  return formsOf(typed)
}

/** A 403 counts when a fresh login gets it too. */
async function readAt({server, session}: Opened, path: string): Promise<ManagerReply> {
  const token = await session.token()
  const reply = await server.ask('GET', path, {token})
  if (reply.status !== 403) return reply
  const other = await session.anew(token)
  return other === null ? reply : server.ask('GET', path, {token: other})
}

function isDeleted({body}: ManagerReply): boolean {
  return typeof object(object(object(parsed(body)).data).metadata).deletion_time === 'string'
}

function secretIn(reply: ManagerReply, {is_v2}: ReadForm): SecretRead {
  const {data, lease_duration} = object(parsed(reply.body))
  const text = is_v2 ? dataText(reply.body, 'data', 'data') : dataText(reply.body, 'data')
  if (text === undefined || !text.trimStart().startsWith('{'))
    throw new ManagerFault('unreachable', 'Vault answered without a secret', {status: reply.status})
  const {version} = object(object(data).metadata)
  const lease_s = !is_v2 && typeof lease_duration === 'number' ? lease_duration : 0
  return {
    content: {kind: 'members', text},
    version: is_v2 && typeof version === 'number' ? String(version) : null,
    lease_ms: lease_s > 0 ? lease_s * 1000 : null,
  }
}
