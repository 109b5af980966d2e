/** Brings lines to a place. */
export interface SinkTarget {
  /**
   * Resolves when the place has all of them. Rejects with a SinkFault when it may have some or none: they are then sent
   * again.
   */
  deliver(lines: readonly string[], stopped: AbortSignal): Promise<void>
}

/** Lines were not taken. Its sentence holds nothing of them. */
export class SinkFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SinkFault'
  }
}

/** How long a place may take for one delivery. */
export const DELIVERY_MS = 30_000
