import type {Environment} from './environment.ts'
import type {CommandFault} from './fault.ts'
import {type Cell, cellText, pairLines, type TableColumn, tableLines} from './table.ts'
import {plain} from './width.ts'

export interface PrintOptions {
  /** Replies as they came, and faults as objects. */
  readonly json: boolean
  /** No remarks; of a list the first column, of something new its key or slug. */
  readonly quiet: boolean
  readonly color: boolean
}

/** The output of a command: answers on stdout, remarks on stderr. */
export interface Printer extends PrintOptions {
  /** A list as a table; `total` is how many there are beyond this page. */
  list<Row>(reply: unknown, rows: readonly Row[], columns: readonly TableColumn<Row>[], total?: number): void
  /** One object as names and values; fields that are not worth a line are left out by name. */
  view(reply: unknown, object: object, without?: readonly string[]): void
  /** Something was made: its key or slug, and a sentence. */
  made(reply: unknown, essential: string, sentence: string): void
  /** Something was done that has nothing to show. */
  done(reply: unknown, sentence: string): void
  /** An answer as it is. */
  json_reply(reply: unknown): void
  line(text: string): void
  /** A remark beside the answer, for people. */
  note(text: string): void
}

/** A printer to the streams of `world`. */
export function createPrinter(world: Environment, options: PrintOptions): Printer {
  const {json, quiet, color} = options
  const line = (text: string) => world.stdout.write(`${text}\n`)
  // With --json stderr holds nothing but a fault, so that a program can read it.
  const note = (text: string) => void (quiet || json || world.stderr.write(`${text}\n`))
  const json_reply = (reply: unknown) => line(JSON.stringify(reply ?? null, null, 2))
  const style = (kind: 'title' | 'cell', text: string) => (color ? painted(kind, text) : text)
  return {
    ...options,
    json_reply,
    line,
    note,
    list(reply, rows, columns, total = rows.length) {
      if (json) return json_reply(reply)
      if (quiet) {
        const {value} = columns.find(({essential}) => essential) ?? columns[0]!
        for (const row of rows) line(cellText(value(row)))
        return
      }
      if (!rows.length)
        return note(total > 0 ? `Nothing on this page: there are ${total} in all.` : 'There is nothing yet.')
      for (const text of tableLines(rows, columns, {columns: world.stdout.columns, style})) line(text)
      if (total > rows.length) note(`${rows.length} of ${total} are shown; --page and --limit show others.`)
    },
    view(reply, object, without = ['object']) {
      if (json) return json_reply(reply)
      const pairs = Object.entries(object).flatMap(([name, value]) =>
        without.includes(name) ? [] : [[name, valueText(value)] as const],
      )
      for (const text of pairLines(pairs, style)) line(text)
    },
    made(reply, essential, sentence) {
      if (json) return json_reply(reply)
      line(quiet ? essential : sentence)
    },
    done(reply, sentence) {
      if (json) return json_reply(reply)
      if (!quiet) line(sentence)
    },
  }
}

/** Says on stderr why a command failed: a sentence and the next step, or with --json an object. */
export function printFault(world: Environment, fault: CommandFault, json: boolean) {
  const {message, next, code, status} = fault
  const whole = next ? `${message} ${next}` : message
  if (json) return world.stderr.write(`${JSON.stringify({error: {message: whole, code, status}}, null, 2)}\n`)
  world.stderr.write(`gateway: ${whole.split('\n').map(plain).join('\n')}\n`)
  if (code === 'internal' && fault.cause instanceof Error && fault.cause.stack)
    world.stderr.write(`${fault.cause.stack}\n`)
}

/** A member of an object as one line. */
export function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length ? value.map(valueText).join(', ') : '-'
  if (typeof value === 'object' && value !== null) return Object.keys(value).length ? plain(JSON.stringify(value)) : '-'
  return cellText(value as Cell)
}

const STATES: Readonly<Record<string, string>> = {
  active: '32',
  enabled: '32',
  exhausted: '33',
  expired: '31',
  archived: '2',
  disabled: '2',
}

function painted(kind: 'title' | 'cell', text: string): string {
  const code = kind === 'title' ? '1' : STATES[text]
  return code ? `\x1b[${code}m${text}\x1b[0m` : text
}
