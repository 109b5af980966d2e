import {createHash} from 'node:crypto'
import type {Db} from '../store/database.ts'
import {holdMail, type NewMail, postMailOnce, updateMail} from '../store/mails.ts'
import {findOrganisation} from '../store/organisations.ts'
import {countOpened} from '../store/sessions.ts'
import {emailsOfOwners} from '../store/users.ts'
import type {SignInServices} from './services.ts'

const MINUTE_MS = 60_000
/** Each is an insert of the transaction that opens the session. */
const MOST_OWNERS = 50

/** A sign-in past single sign-on, with the password of an owner. */
export interface PasswordUse {
  readonly organisation_id: string
  readonly email: string
  readonly client_ip: string
}

/**
 * Puts a letter to each owner where the mail job finds it, in the transaction of the sign-in: it goes out only with the
 * session, the sign-in waits for no mail server, and a process that ends loses no letter. An owner gets one a minute:
 * later uses of that minute are in the letter of the next, with their number.
 */
export async function alertOwners(db: Db, services: SignInServices, use: PasswordUse): Promise<void> {
  if (!services.write_letter) return
  const now_ms = services.now().getTime()
  const minute_ms = Math.floor(now_ms / MINUTE_MS) * MINUTE_MS
  const name = (await findOrganisation(db, use.organisation_id))?.name ?? ''
  const letterOf = (recipient: string, due_at_ms: number, count: number): NewMail | undefined => {
    const letter = lettered(services, {...use, name, count, at: new Date(now_ms).toISOString()})
    return letter && {id: idOf(use.organisation_id, recipient, due_at_ms), recipient, ...letter}
  }
  for (const recipient of await emailsOfOwners(db, use.organisation_id, MOST_OWNERS)) {
    const first = letterOf(recipient, minute_ms, 1)
    if (!first || (await postMailOnce(db, first, now_ms, now_ms))) continue
    const due_at_ms = minute_ms + MINUTE_MS
    const id = idOf(use.organisation_id, recipient, due_at_ms)
    // the letter first: uses that are counted at the same time in other processes wait for this transaction
    if (!(await postMailOnce(db, {...first, id}, due_at_ms, now_ms))) await holdMail(db, id)
    const since = new Date(minute_ms).toISOString()
    const count = await countOpened(db, use.organisation_id, {method: 'password', since})
    const {subject, plain, html} = letterOf(recipient, due_at_ms, count) ?? first
    await updateMail(db, id, {subject, plain, html})
  }
}

interface LetterParts extends PasswordUse {
  readonly name: string
  readonly at: string
  readonly count: number
}

/** A template that fails with these values must not shut out an owner: the warn line and the row are there as well. */
function lettered(
  {write_letter, log}: SignInServices,
  {name, organisation_id, email, client_ip, at, count}: LetterParts,
) {
  const facts = {kind: 'organisation', name, id: organisation_id, email, client_ip, at}
  try {
    return write_letter?.('organisation-password-sign-in-alert', {
      ...facts,
      count: count > 1 ? String(count) : undefined,
    })
  } catch (fault) {
    log.warn({fault, organisation_id}, 'owners get no mail of a sign-in with a password: the letter cannot be written')
    return undefined
  }
}

/** One for each owner and minute: of uses at the same moment, in whichever processes, one makes the letter. */
function idOf(organisation_id: string, recipient: string, minute_ms: number): string {
  const hash = createHash('sha256').update(`${organisation_id}\0${recipient}`).digest('hex')
  return `password-sign-in-${minute_ms / MINUTE_MS}-${hash.slice(0, 32)}`
}
