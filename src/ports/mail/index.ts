/** A letter to one person. */
export interface Letter {
  /** The same whenever it is sent again, so that a server that has it already can tell. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly plain: string
  readonly html: string
}

/** Sends letters. */
export interface Mailer {
  /** Resolves when the server has taken the letter. Throws MailFault. */
  send(letter: Letter): Promise<void>
}

/** A letter was not taken. Its sentence holds no secret. */
export class MailFault extends Error {
  /** The server will never take this letter: trying again cannot help. */
  readonly is_final: boolean

  constructor(message: string, is_final: boolean) {
    super(message)
    this.name = 'MailFault'
    this.is_final = is_final
  }
}
