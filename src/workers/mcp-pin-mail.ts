import {createHash} from 'node:crypto'
import type {Log} from '../base/log.ts'
import type {WriteLetter} from '../ports/mail/mail-templates.ts'
import type {PinAlert} from '../schema/mcp-pins.ts'
import type {Db} from '../store/database.ts'
import {type NewMail, postMailOnce} from '../store/mails.ts'
import {listRecipients} from '../store/users.ts'

const HOUR_MS = 3_600_000
const MOST_NAMED = 20
const LONGEST_NAME = 100

interface PinMailServices {
  /** Absent where no mail server is set. */
  readonly write: WriteLetter | undefined
  readonly log: Pick<Log, 'warn'>
}

/**
 * Mails to the people of an integration what its server changed, in the transaction that writes it: a change is seen
 * once, so it is one mail. A recipient gets one an hour of an integration: a server decides how often it changes, and
 * whatever follows is in the letter at the end of that hour.
 */
export function pinMails({write, log}: PinMailServices) {
  if (!write) return undefined
  return async (db: Db, alert: PinAlert, now_ms: number): Promise<void> => {
    const {organisation_id, workspace_id} = alert.integration
    const recipients = await listRecipients(db, {organisation_id, workspace_id: workspace_id ?? ''})
    for (const recipient of recipients) {
      const hour = Math.floor(now_ms / HOUR_MS)
      const first = letterOf(alert, {recipient, hour, is_late: false})
      if (!first || (await postMailOnce(db, first, now_ms, now_ms))) continue
      const late = letterOf(alert, {recipient, hour: hour + 1, is_late: true})
      if (late) await postMailOnce(db, late, (hour + 1) * HOUR_MS, now_ms)
    }
  }

  /** A template that fails with these values must not stop a sync: the audit log has the change as well. */
  function letterOf(
    {integration, changed, suspicious, is_quarantined}: PinAlert,
    {recipient, hour, is_late}: {readonly recipient: string; readonly hour: number; readonly is_late: boolean},
  ): NewMail | undefined {
    const {id, slug, organisation_id, workspace_id} = integration
    try {
      const letter = write!('mcp-definition-alert', {
        ...{kind: 'MCP integration', name: slug, id, workspace_id: workspace_id ?? undefined},
        ...{changed: named(changed), suspicious: named(suspicious)},
        quarantined: is_quarantined && changed.length > 0 ? 'yes' : undefined,
        more: is_late ? 'yes' : undefined,
      })
      const hash = createHash('sha256').update(`${id}\0${recipient.toLowerCase()}`).digest('hex').slice(0, 32)
      return {id: `mcp-definition-${hour}-${hash}`, recipient, ...letter}
    } catch (fault) {
      log.warn({fault, organisation_id, integration: slug}, 'no mail of a changed definition: it cannot be written')
      return undefined
    }
  }
}

/** Names are the server's own words: printable, cut, and a bounded number of them. */
function named(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const shown = [...new Set(names)]
    .slice(0, MOST_NAMED)
    .map(name => name.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, LONGEST_NAME))
  const rest = new Set(names).size - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
