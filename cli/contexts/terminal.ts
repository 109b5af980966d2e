import {emitKeypressEvents, type Key} from 'node:readline'

const LONGEST = 8192

/** Asks on the terminal and reads a line that is not shown. Rejects where Ctrl-C or Ctrl-D ends it. */
export function askHidden(question: string): Promise<string> {
  const {stdin, stderr} = process
  stderr.write(question)
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.resume()
  return new Promise((done, fail) => {
    let line = ''
    const heard = (text: string | undefined, {name, ctrl, meta}: Key) => {
      if (ctrl && (name === 'c' || (name === 'd' && line === ''))) return end(() => fail(new Error('stopped')))
      if (name === 'return' || name === 'enter') return end(() => done(line))
      if (name === 'backspace') line = line.slice(0, -1)
      else if (ctrl && name === 'u') line = ''
      else if (text && !ctrl && !meta && text >= ' ' && line.length < LONGEST) line += text
    }
    const end = (settle: () => void) => {
      stdin.off('keypress', heard)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      settle()
    }
    stdin.on('keypress', heard)
  })
}

/**
 * Opens a page in the browser of a desktop, where the environment has one; nothing hangs on it, for the address is
 * printed as well.
 */
export async function openPage(
  page: string,
  {DISPLAY, WAYLAND_DISPLAY}: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const opener = process.platform === 'darwin' ? 'open' : DISPLAY || WAYLAND_DISPLAY ? 'xdg-open' : undefined
  if (opener === undefined) return
  const {spawn} = await import('node:child_process')
  spawn(opener, [page], {stdio: 'ignore', detached: true})
    .on('error', () => undefined)
    .unref()
}
