/** The other side broke the protocol. `code` is what to close with; both sides may see the message. */
export class SocketFault extends Error {
  readonly code: number

  constructor(code: number, reason: string) {
    super(reason)
    this.name = 'SocketFault'
    this.code = code
  }
}
