import {badRequest} from '../fault.ts'
import type {Filter} from '../filter/filter.ts'
import {readFilter} from '../filter/parse.ts'
import {canonical} from '../names.ts'
import {type AttributePath, readPath} from '../path.ts'

/** The way that an operation names: `emails[type eq "work"].value`. */
export interface PatchPath extends AttributePath {
  /** Picks among the values of a list; null: all of them. */
  readonly filter: Filter | null
}

const AFTER = /^(?:\.([$a-z][\w$-]*))?$/i
const LONGEST_BYTES = 4096

/** Refuses what is none with `invalidPath`. */
export function readPatchPath(text: string): PatchPath {
  if (Buffer.byteLength(text) > LONGEST_BYTES) throw wrong('is longer than 4 KB')
  const [open, close] = [text.indexOf('['), text.lastIndexOf(']')]
  if (open < 0) {
    const plain = readPath(text)
    if (!plain) throw wrong('is no attribute')
    return {...plain, filter: null}
  }
  const list = readPath(text.slice(0, open))
  const after = AFTER.exec(text.slice(close + 1))
  if (close < open || !list || list.sub !== null || !after) throw wrong('is no attribute')
  return {
    ...list,
    filter: readFilter(text.slice(open + 1, close)),
    sub: after[1] === undefined ? null : canonical(after[1]),
  }
}

function wrong(why: string) {
  return badRequest('invalidPath', `A path of the operations ${why}.`)
}
