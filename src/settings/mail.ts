import type {Settings} from './table.ts'

/** A mail server as the settings name it. */
export interface MailSettings {
  readonly host: string
  readonly port: number
  /** `tls`: from the first byte; `required` and `offered` are STARTTLS; `none`: never. */
  readonly security: 'tls' | 'required' | 'offered' | 'none'
  readonly ca: string | undefined
  readonly login: {readonly user: string; readonly password: string} | undefined
  readonly from: string
}

const IMPLICIT_TLS_PORT = 465 // RFC 8314, 3.3

/** The mail server to use; undefined: no mail is sent. It holds secrets: do not print it. */
export function mailSettings(settings: Settings): MailSettings | undefined {
  const {
    smtp_mail,
    smtp_host: host,
    smtp_port: port,
    smtp_from: from,
    smtp_user: user,
    smtp_password: password,
  } = settings
  if (!smtp_mail || !host || !from) return undefined
  const login = user !== undefined && password !== undefined ? {user, password} : undefined
  return {host, port, security: securityOf(settings, login !== undefined), ca: settings.smtp_tls_ca, login, from}
}

function securityOf({smtp_security, smtp_port}: Settings, logs_in: boolean): MailSettings['security'] {
  if (smtp_security === 'starttls') return 'required'
  if (smtp_security !== 'auto') return smtp_security
  if (smtp_port === IMPLICIT_TLS_PORT) return 'tls'
  return logs_in ? 'required' : 'offered'
}
