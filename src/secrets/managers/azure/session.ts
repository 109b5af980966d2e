import {tokenOf} from '../../../providers/auth/entra.ts'
import {type Logins, openLogins} from '../../../providers/auth/login.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerServices} from '../../services.ts'
import {judgedFetch} from '../credential-fetch.ts'
import type {ManagerPatience} from '../patience.ts'
import {type SecretPlace, textOf} from '../reading.ts'
import type {AzureVault} from './place.ts'

const MINT_EVERY_MS = 60_000
/** The federated token of the machine was rotated while it was used. */
const OLD_ASSERTION = 'AADSTS700024'

interface SessionParts {
  readonly on: ManagerServices
  readonly vault: AzureVault
  readonly login: SecretPlace['login']
  readonly key: string
  readonly patience: ManagerPatience
}

/** The token of one login at Azure. */
export class AzureSession {
  readonly #parts: SessionParts
  #logins: Logins
  #minted_at_ms = Number.NEGATIVE_INFINITY

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#logins = this.#open()
  }

  async token(): Promise<string> {
    const {on, login, vault} = this.#parts
    const way = textOf(login, 'azure_auth_mode')
    if (way !== 'entra' && !vault.is_azures && !on.isNamedHost(vault.hostname))
      throw new ManagerFault(
        'unusable',
        'Azure Key Vault: its own identity is for vaults of Azure and hosts in SECRET_MANAGER_HOSTS alone',
      )
    try {
      return await this.#tokenBy(way)
    } catch (fault) {
      if (!(fault instanceof ManagerFault) || fault.code !== OLD_ASSERTION) throw fault
      return await this.#tokenBy(way)
    }
  }

  /** Forgets the token, because it was refused; false where that was tried lately. */
  renew(): boolean {
    const now_ms = this.#parts.on.wall()
    if (now_ms - this.#minted_at_ms < MINT_EVERY_MS) return false
    this.#minted_at_ms = now_ms
    this.#logins = this.#open()
    return true
  }

  async #tokenBy(way: string | null): Promise<string> {
    const {on, login, vault} = this.#parts
    const options = Object.fromEntries(
      Object.entries(login).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
    const {federated_token, tenant_id, client_id} = on.identity.azure ?? {}
    const is_workload = federated_token !== undefined && tenant_id !== undefined && client_id !== undefined
    const mode = way === 'default' ? (is_workload ? 'workload' : 'managed') : (way ?? 'managed')
    try {
      return await tokenOf(mode, vault.scope, options, this.#logins)
    } catch (fault) {
      if (fault instanceof Error && fault.name !== 'ManagerFault' && fault.name.endsWith('Fault'))
        throw new ManagerFault('unreachable', 'Azure gave no token that can be used', {cause: fault})
      throw fault
    }
  }

  #open(): Logins {
    const {on, vault, key, patience} = this.#parts
    return openLogins({
      fetch: judgedFetch(on, {key, patience}),
      now_ms: on.wall,
      identity: on.identity,
      azure_authority: vault.authority,
    })
  }
}
