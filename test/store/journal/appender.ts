import {openJournal, recover} from '../../../src/store/journal/index.ts'
import {say} from '../../support/say.ts'

/**
 * Appends for ever and prints the id of each acknowledged record, until it is killed. Starts as a server does: settles
 * what the run before left open. Arguments: folder, store id, name of this run.
 */
const [folder, store_id, run] = process.argv.slice(2) as [string, string, string]
const owner = {folder, store_id, epoch: 1}
const mark = {segment: 0, position: 0}
const {open} = recover({...owner, mark})
const journal = await openJournal({...owner, mark, open, segment_bytes: 64 * 1024, sync_ms: 5})
const acknowledge = (id: string) => (error?: Error) => {
  if (error) throw error
  say(`${id}`)
}
for (const {id} of open) journal.appendSettlement(id, `recovered ${id}`, acknowledge(`recovered ${id}`))

let calls = 0
setImmediate(function turn() {
  for (let n = 0; n < 5; n++) {
    const call = `${run}-${calls++}:1`
    journal.appendIntent(call, `intent ${call}`, acknowledge(`intent ${call}`))
    if (n < 4 || calls % 100 > 0)
      journal.appendSettlement(call, `settlement ${call}`, acknowledge(`settlement ${call}`))
    journal.append('log_row', `${call} ${'x'.repeat(calls % 3000)}`, acknowledge(call))
  }
  setImmediate(turn)
})
