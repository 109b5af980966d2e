import {awsCredentials} from '../../../providers/auth/aws-credentials.ts'
import type {AwsLogin} from '../../../providers/auth/aws-login.ts'
import type {AwsCredentials} from '../../../providers/auth/sigv4.ts'
import {ManagerFault} from '../../manager-fault.ts'
import type {ManagerServices} from '../../services.ts'
import {judgedFetch} from '../credential-fetch.ts'
import type {ManagerPatience} from '../patience.ts'
import {type SecretPlace, textOf} from '../reading.ts'
import type {ClockOffsets} from './clock-offsets.ts'
import type {AwsPlace} from './place.ts'

/** Sessions are minted again for a refusal once in so long. */
const MINT_EVERY_MS = 60_000

interface SessionParts {
  readonly on: ManagerServices
  readonly place: AwsPlace
  readonly login: SecretPlace['login']
  readonly key: string
  readonly patience: ManagerPatience
  readonly clocks: ClockOffsets
}

/** The credentials of one login at AWS, minted where they cost a call. */
export class AwsSession {
  readonly #parts: SessionParts
  readonly #login: AwsLogin
  #mint: ReturnType<typeof awsCredentials>
  #minted_at_ms = Number.NEGATIVE_INFINITY

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#login = loginOf(parts.login)
    this.#mint = this.#minting()
  }

  async credentials(): Promise<AwsCredentials> {
    const {place, clocks} = this.#parts
    const sts = `sts.${place.region}.${place.domain}`
    const before = clocks.offset(sts)
    try {
      return await this.#minted()
    } catch (fault) {
      const is_skewed = clocks.offset(sts) !== before
      const is_expired = fault instanceof ManagerFault && fault.may_mint
      if (!is_skewed && !is_expired) throw fault
      this.#mint = this.#minting()
      return await this.#minted()
    }
  }

  /** Forgets what was minted, because it was refused; false where that was tried lately, or nothing is minted. */
  renew(): boolean {
    const now_ms = this.#parts.on.wall()
    if (this.#login.type === 'accessKey' || now_ms - this.#minted_at_ms < MINT_EVERY_MS) return false
    this.#minted_at_ms = now_ms
    this.#mint = this.#minting()
    return true
  }

  async #minted(): Promise<AwsCredentials> {
    try {
      return await this.#mint(this.#login, this.#parts.place.region)
    } catch (fault) {
      if (fault instanceof Error && fault.name === 'AwsCredentialsFault')
        throw new ManagerFault('unreachable', fault.message.replace(/\.$/, ''), {cause: fault})
      throw fault
    }
  }

  #minting() {
    const {on, place, key, patience, clocks} = this.#parts
    const sts = `sts.${place.region}.${place.domain}`
    return awsCredentials({
      fetch: judgedFetch(on, {key, patience, onSkew: reply => void clocks.learn(sts, reply, true)}),
      now_ms: () => clocks.now(sts),
      ...(on.identity.aws && {identity: on.identity.aws}),
      domain: place.domain,
    })
  }
}

function loginOf(login: SecretPlace['login']): AwsLogin {
  const way = textOf(login, 'aws_auth_type')
  if (way === 'accessKey')
    return {
      type: 'accessKey',
      access_key_id: textOf(login, 'aws_access_key_id') ?? '',
      secret_access_key: textOf(login, 'aws_secret_access_key') ?? '',
    }
  if (way !== 'assumedRole') return {type: 'serviceRole'}
  return {
    type: 'assumedRole',
    role_arn: textOf(login, 'aws_role_arn') ?? '',
    external_id: textOf(login, 'aws_external_id'),
  }
}
