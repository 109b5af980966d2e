import {hash} from 'node:crypto'

/** An id of at most `most` characters: a longer one keeps its beginning and ends in a digest of the whole. */
export function shortId(id: string, most: number): string {
  return id.length <= most ? id : `${id.slice(0, most - 17)}_${hash('sha256', id).slice(0, 16)}`
}
