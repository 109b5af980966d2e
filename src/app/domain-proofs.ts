import type {DomainProofs} from '../admin/services.ts'
import type {After} from '../base/delay.ts'
import {newId} from '../base/ids.ts'
import type {Log} from '../base/log.ts'
import {txtLooks} from '../ports/dns/txt.ts'
import {MailFault} from '../ports/mail/index.ts'
import {smtpMailer} from '../ports/mail/smtp.ts'
import {mailSettings, type Settings} from '../settings/index.ts'
import {openLetters} from './mail-texts.ts'

export interface DomainProofParts {
  readonly settings: Settings
  readonly log: Log
  readonly after: After
}

/** A server takes a mail in a few steps, each with its own deadline. */
const MAIL_MS = 20_000

/** How this process proves domains. Throws TemplateFault for a template that cannot be used. */
export function openDomainProofs({settings, log, after}: DomainProofParts): DomainProofs {
  const look = txtLooks({servers: settings.domain_dns_servers, after})
  const server = mailSettings(settings)
  if (!server) return {look, mail: null}
  const mailer = smtpMailer(server)
  const write = openLetters(settings)
  return {
    look,
    async mail(to, facts) {
      let cancel = () => {}
      const late = new Promise<never>((_, reject) => {
        const why = `The mail server did not take the mail within ${MAIL_MS / 1000} s.`
        cancel = after(MAIL_MS, () => reject(new MailFault(why, false)))
      })
      try {
        await Promise.race([mailer.send({id: newId(), to, ...write('domain-code', facts)}), late])
      } catch (fault) {
        log.warn({fault, domain: facts.domain}, 'the code for a domain could not be sent')
        throw fault
      } finally {
        cancel()
      }
    },
  }
}
