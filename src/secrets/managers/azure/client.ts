import {object, parsed} from '../../../base/json-object.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerReply, ManagerServices} from '../../services.ts'
import {LoginMemory} from '../login-memory.ts'
import {isPassing, ManagerPatience, retryAfterOf} from '../patience.ts'
import {type ReadSecret, type SecretPlace, type SecretRead, textOf} from '../reading.ts'
import {azureSecret, azureVault} from './place.ts'
import {AzureSession} from './session.ts'

const API_VERSION = '7.4'

/** Azure Key Vault. Source: Microsoft Learn, "Get Secret" of the Key Vault REST API, version 7.4. */
export function azureManager(on: ManagerServices): ReadSecret {
  const patience = new ManagerPatience(on)
  const sessions = new LoginMemory<{readonly key: string; readonly session: AzureSession}>()

  return async ({login, path}: SecretPlace) => {
    const secret = azureSecret(path)
    if (!secret) throw new ManagerFault('unusable', 'Azure Key Vault: secret_path is no name of a secret')
    const vault = azureVault(textOf(login, 'azure_vault_url') ?? '', on.azure_authority)
    const {key, session} = sessions.of(`${vault.url} ${vault.authority}`, login, made => ({
      key: made,
      session: new AzureSession({on, vault, login, key: made, patience}),
    }))
    const version = secret.version === null ? '' : `/${secret.version}`
    const url = `${vault.url}/secrets/${secret.name}${version}?api-version=${API_VERSION}`
    const once = () =>
      patience.run(`${vault.hostname} ${key}`, async () => {
        const authorization = `Bearer ${await session.token()}`
        const reply = await on.fetch({method: 'GET', url, headers: {authorization, accept: 'application/json'}})
        if (reply.status !== 200) throw faultOf(reply, on.wall())
        return readSecret(reply)
      })
    try {
      return await once()
    } catch (fault) {
      if (!(fault instanceof ManagerFault && fault.may_mint && session.renew())) throw fault
      return await once()
    }
  }
}

const SENTENCE = 'Azure Key Vault gave no secret'

function readSecret({body}: ManagerReply): SecretRead {
  const {value, id, attributes} = object(parsed(body))
  if (object(attributes).enabled === false)
    throw new ManagerFault('unusable', SENTENCE, {status: 200, code: 'SecretDisabled'})
  if (typeof value !== 'string') throw new ManagerFault('unreachable', SENTENCE, {status: 200})
  const version = typeof id === 'string' ? (/\/([0-9a-f]{1,64})$/i.exec(id)?.[1] ?? null) : null
  return {content: {kind: 'text', text: value}, version, lease_ms: null}
}

function faultOf(reply: ManagerReply, wall_ms: number): ManagerFault {
  const {status, body, headers} = reply
  const error = object(object(parsed(body)).error)
  const inner = object(error.innererror).code
  const code = [inner, error.code].find(each => typeof each === 'string') as string | undefined
  const facts = {
    status,
    code: code ?? null,
    request_id: headers['x-ms-request-id'] ?? null,
    retry_after_ms: retryAfterOf(reply, wall_ms),
  }
  if (status === 401) return new ManagerFault('denied', SENTENCE, {...facts, may_mint: true})
  if (status === 403) return new ManagerFault(code === 'SecretDisabled' ? 'unusable' : 'denied', SENTENCE, facts)
  if (status === 404) return new ManagerFault('missing', SENTENCE, facts)
  if (status === 429) return new ManagerFault('throttled', SENTENCE, facts)
  return new ManagerFault(status >= 400 && !isPassing(status) ? 'unusable' : 'unreachable', SENTENCE, facts)
}
