import {writeSync} from 'node:fs'

const still = new Int32Array(new SharedArrayBuffer(4))

/** Writes a line to standard output before it returns, so that it outlives kill -9; waits while the pipe is full. */
export function say(line: string): void {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EAGAIN') throw fault
      Atomics.wait(still, 0, 0, 1)
    }
  }
}
