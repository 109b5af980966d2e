import type {Transporter} from 'nodemailer'
import type {MailSettings} from '../../settings/index.ts'
import {type Mailer, MailFault} from './index.ts'

export interface SmtpOptions extends MailSettings {
  /** How long a server may take to answer a connection, to greet, and for each answer after that. @default 10000 */
  readonly answer_ms?: number
}

/**
 * Sends over SMTP (RFC 5321), a connection for each letter: there are few, and none waits in vain for a server that
 * went away.
 */
export function smtpMailer({host, port, security, ca, login, from, answer_ms = 10_000}: SmtpOptions): Mailer {
  const open = async () => {
    const {createTransport} = await import('nodemailer') // with the first letter: most installations send none
    return createTransport({
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'required',
      ignoreTLS: security === 'none',
      tls: {minVersion: 'TLSv1.2', ...(ca !== undefined && {ca})},
      ...(login && {auth: {user: login.user, pass: login.password}}),
      connectionTimeout: answer_ms,
      greetingTimeout: answer_ms,
      socketTimeout: answer_ms,
      dnsTimeout: answer_ms,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  let transport: Promise<Transporter> | undefined
  const domain = from.replace(/^.*@|>$/g, '')
  return {
    async send({id, to, subject, plain, html}) {
      try {
        transport ??= open()
        await (await transport).sendMail({
          from,
          to: {name: '', address: to},
          subject,
          text: plain,
          html,
          messageId: `<${id}@${domain}>`,
          headers: {'auto-submitted': 'auto-generated'}, // RFC 3834: no holiday notices come back
        })
      } catch (fault) {
        throw new MailFault(withoutLogin(sentenceOf(fault), login), isFinal(fault))
      }
    },
  }
}

function sentenceOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault)
  const {code} = fault as {code?: string}
  return code && !fault.message.includes(code) ? `${fault.message} (${code})` : fault.message
}

/** Servers repeat what they were sent. */
function withoutLogin(text: string, login: MailSettings['login']): string {
  if (!login) return text
  const {user, password} = login
  const base64 = (value: string) => Buffer.from(value).toString('base64')
  const secrets = [password, base64(password), base64(`\0${user}\0${password}`)]
  return secrets.reduce((redacted, secret) => (secret === '' ? redacted : redacted.replaceAll(secret, '***')), text)
}

/** The recipient or the letter itself is refused permanently (5yz); a login or a connection may yet recover. */
function isFinal(fault: unknown): boolean {
  const {code, responseCode = 0} = fault as {code?: string; responseCode?: number}
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500
}
