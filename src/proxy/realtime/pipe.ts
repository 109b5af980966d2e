import type {Readable, Writable} from 'node:stream'
import {FrameReader, SocketFault, type WirePiece} from '../../base/websocket/index.ts'

/**
 * Passes a piece on: as it came, or replaced by `put`, which may be empty. `is_part`: the piece that is passed on is a
 * part of a frame or of a message as the original is; else the receiver has whole messages alone.
 */
export type Pass = (put?: Buffer, is_part?: boolean) => void

/** The reports of a lane to its session. */
export interface PipeListener {
  /** Called with each piece: it is sent once `pass` is called, and nothing after it before. */
  judge(piece: WirePiece, pass: Pass): void
  /** The sender broke the protocol. */
  broke(fault: SocketFault): void
  /** Something failed in here; nothing is passed on any more. */
  failed(fault: unknown): void
  /** The sender's connection ended, and all that came from it has gone on. */
  ended(): void
}

/**
 * One direction of a session: bytes are passed on as they came, frame by frame, and no faster than the receiver takes
 * them. A reader that is not emptied stops the sender, so that no more is held than a frame within the bound and what
 * sockets hold themselves.
 */
export class Pipe {
  readonly #reader: FrameReader
  readonly #from: Readable
  readonly #to: Writable
  readonly #ears: PipeListener
  readonly #steady: () => number
  #is_held = false
  #is_stopped = false
  #has_ended = false
  /** When the receiver became full, on the clock of durations; 0 while it takes bytes. */
  full_since = 0
  /** When bytes came last. */
  heard_at: number
  received_bytes = 0
  /** Frames of ours that wait until they may go between the sender's. */
  #own: {readonly bytes: Buffer; readonly written: () => void}[] = []
  /** True when the receiver has a part of a frame or of a message: no frame (no message) of ours can follow. */
  is_mid_frame = false
  is_mid_message = false

  /** `most_bytes`: a larger message passes unread. */
  constructor(
    sender: 'client' | 'server',
    from: Readable,
    to: Writable,
    ears: PipeListener,
    steady: () => number,
    most_bytes?: number,
  ) {
    this.#reader = new FrameReader(sender, most_bytes)
    this.#from = from
    this.#to = to
    this.#ears = ears
    this.#steady = steady
    this.heard_at = steady()
  }

  /** Begins with bytes that came early. */
  start(early: Buffer): void {
    const end = () => {
      this.#has_ended = true
      if (this.full_since) this.#over()
      else this.#run()
    }
    this.#from.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#from.on('end', end)
    this.#from.on('close', end)
    this.#to.on('drain', () => {
      this.full_since = 0
      this.#writeOwn()
      this.#run()
    })
    this.#take(early)
  }

  /**
   * Puts a whole message of ours between those of the sender, in the order in which they are put; `written` once it is
   * sent.
   */
  insert(bytes: Buffer, written: () => void = () => undefined): void {
    this.#own.push({bytes, written})
    this.#writeOwn()
  }

  /** Passes nothing on any more; what still comes is let go. */
  stop(): void {
    this.#is_stopped = true
    this.#from.resume()
  }

  #take(chunk: Buffer) {
    if (this.#is_stopped) return
    this.heard_at = this.#steady()
    this.received_bytes += chunk.length
    this.#reader.add(chunk)
    this.#run()
  }

  #run() {
    while (!this.#is_stopped && !this.#is_held && !this.full_since) {
      const piece = this.#next()
      if (this.#is_stopped) return
      if (!piece) {
        this.#from.resume()
        if (this.#has_ended) this.#over()
        return
      }
      this.#offer(piece)
    }
    if (!this.#is_stopped) this.#from.pause()
  }

  #offer(piece: WirePiece) {
    const {is_mid_frame, is_mid_message} = this.#reader
    let is_here = true
    let is_passed = false
    this.#is_held = true
    const pass = (put = piece.bytes, is_part = put === piece.bytes) => {
      if (is_passed || this.#is_stopped) return
      is_passed = true
      this.#is_held = false
      this.is_mid_frame = is_part && is_mid_frame
      this.is_mid_message = is_part && is_mid_message
      if (put.length > 0) this.#write(put)
      this.#writeOwn()
      if (!is_here) this.#run()
    }
    try {
      this.#ears.judge(piece, pass)
    } catch (fault) {
      this.#is_stopped = true
      this.#ears.failed(fault)
    }
    is_here = false
  }

  #write(bytes: Buffer) {
    if (!this.#to.write(bytes)) this.full_since = this.#steady()
  }

  #writeOwn() {
    while (!this.#is_stopped && !this.full_since && !this.is_mid_message) {
      const own = this.#own.shift()
      if (!own) return
      this.#write(own.bytes)
      own.written()
    }
  }

  #next(): WirePiece | null {
    try {
      return this.#reader.next()
    } catch (fault) {
      this.#is_stopped = true
      if (fault instanceof SocketFault) this.#ears.broke(fault)
      else this.#ears.failed(fault)
      return null
    }
  }

  #over() {
    if (this.#is_stopped) return
    this.#is_stopped = true
    this.#ears.ended()
  }
}
