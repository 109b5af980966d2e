/** A check's own reason for not judging. */
export class CheckFault extends Error {
  constructor(message: string, name = 'CheckError') {
    super(message)
    this.name = name
  }
}
