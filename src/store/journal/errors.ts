/**
 * Why a record was not written. `full`: no room can be had now. `fault`: the file system refused or cut a write.
 * `too_large`, `duplicate`: the caller's record. `closed`: the journal was closed. Of `full` and `fault` a call is
 * refused with `journal.full`.
 */
export class JournalFault extends Error {
  readonly reason: 'full' | 'fault' | 'too_large' | 'duplicate' | 'closed'

  constructor(reason: JournalFault['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'JournalFault'
    this.reason = reason
  }
}
