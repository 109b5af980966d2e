import {readLetters, type WriteLetter} from '../ports/mail/mail-templates.ts'
import {mailSettings, type Settings} from '../settings/index.ts'

/**
 * Letters with what each of them may say of the installation. Throws TemplateFault for templates that cannot be used.
 */
export function openLetters({
  email_templates_path,
  email_company_name,
  email_logo_url,
  email_support_email,
  email_docs_url,
}: Settings): WriteLetter {
  return readLetters(email_templates_path, {
    company_name: email_company_name,
    logo_url: email_logo_url,
    support_email: email_support_email,
    docs_url: email_docs_url,
  })
}

/** The same; undefined where no mail server is set. */
export function lettersToSend(settings: Settings): WriteLetter | undefined {
  return mailSettings(settings) && openLetters(settings)
}
