import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import type {ConnectionSource} from '../identity/connections.ts'
import type {CookieJar} from '../identity/cookies.ts'
import type {LdapDirectories} from '../identity/ldap/directory.ts'
import type {OidcProviders} from '../identity/oidc/provider.ts'
import type {SamlProviders} from '../identity/saml/providers.ts'
import type {WriteLetter} from '../ports/mail/mail-templates.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import type {SignInRows} from './audit.ts'

/** The services of sign-in; the composition root gives them. */
export interface SignInServices {
  readonly store: Store
  readonly settings: Settings
  readonly seal: Seal
  readonly log: Pick<Log, 'warn' | 'error'>
  now(): Date
  /** The address by which people reach us: `https://gateway.example.com`, without a slash at its end. */
  readonly base_url: string
  readonly cookies: CookieJar
  readonly connections: ConnectionSource
  readonly rows: SignInRows
  /** Writes letters; absent where no mail server is set. */
  readonly write_letter: WriteLetter | undefined
  /** Each is opened with the first sign-in that needs it. The host of `issuer` may be private. */
  oidc(issuer: string): Promise<OidcProviders>
  saml(): Promise<SamlProviders>
  ldap(): Promise<LdapDirectories>
}
