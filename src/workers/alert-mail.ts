import {newTimeId} from '../base/ids.ts'
import type {WriteLetter} from '../ports/mail/mail-templates.ts'
import {insertGatewayDeed} from '../store/audit-logs.ts'
import type {Db} from '../store/database.ts'
import {postMails} from '../store/mails.ts'
import {emailOfKeyUser, listRecipients} from '../store/users.ts'

/** The subject of a mail. */
export interface AlertSubject {
  readonly entity: 'key' | 'workspace' | 'provider' | 'integration' | 'policy'
  readonly id: string
  readonly name: string
  readonly organisation_id: string
  /** Empty for what is of no workspace. */
  readonly workspace_id: string
  /** Addresses that the entity itself names. */
  readonly alert_emails: readonly string[]
}

/** The recipients of mail about a subject, its own address among them. Read in the transaction that notes the mail. */
export type RecipientsOf = (subject: AlertSubject, db: Db) => Promise<readonly string[]>

/**
 * Admins and managers of the workspace, owners and admins of the organisation, the user of a key, and the addresses
 * that a key names.
 */
export const alertRecipients: RecipientsOf = async (subject, db) => {
  const owner = subject.entity === 'key' ? await emailOfKeyUser(db, subject.id) : undefined
  return [...(await listRecipients(db, subject)), ...(owner === undefined ? [] : [owner]), ...subject.alert_emails]
}

export interface Notice {
  readonly event: 'usage-threshold-alert' | 'usage-exhausted-alert' | 'expired-alert'
  readonly subject: AlertSubject
  /** For letters: amounts with their units, times in ISO 8601. */
  readonly facts: Readonly<Record<string, string | undefined>>
}

export interface NoticeServices {
  readonly recipientsOf: RecipientsOf
  /** Writes letters; absent where no mail server is set. */
  readonly write: WriteLetter | undefined
  readonly audits: boolean
}

const KINDS = {
  key: 'API key',
  workspace: 'workspace',
  provider: 'provider',
  integration: 'integration',
  policy: 'policy',
} as const
const LETTERS = {
  key: 'apikey',
  provider: 'virtualkey',
  workspace: 'entity',
  integration: 'entity',
  policy: 'entity',
} as const
const RESOURCES = {
  key: 'api-key',
  provider: 'provider',
  workspace: 'workspace',
  integration: 'integration',
  policy: 'policy',
} as const

/**
 * Reports an event in the transaction that notes it: a row of the audit log, and a mail for each recipient to be sent.
 */
export async function tell(db: Db, {event, subject, facts}: Notice, now_ms: number, on: NoticeServices): Promise<void> {
  const {entity, id, name, organisation_id, workspace_id} = subject
  if (on.audits) {
    const deed = {
      ...{organisation_id, workspace_id: workspace_id || null, status: 200, client_ip: null},
      ...{resource_type: RESOURCES[entity], resource_id: id, action: event, body: {name, ...facts}},
    }
    await insertGatewayDeed(db, deed, now_ms)
  }
  if (!on.write) return
  const recipients = new Map((await on.recipientsOf(subject, db)).map(address => [address.toLowerCase(), address]))
  const letter = on.write(`${LETTERS[entity]}-${event}`, {kind: KINDS[entity], name, id, workspace_id, ...facts})
  const mails = [...recipients.values()].map(recipient => ({id: newTimeId(now_ms), recipient, ...letter}))
  await postMails(db, mails, now_ms)
}
