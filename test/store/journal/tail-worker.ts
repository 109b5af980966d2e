import {parentPort, workerData} from 'node:worker_threads'
import {type Mark, readJournal} from '../../../src/store/journal/index.ts'

/** A flusher in little: reads up to each mark it is told of, says how far it is, and at the end what it has read. */
const {folder, store_id, epoch} = workerData as {folder: string; store_id: string; epoch: number}
const read: string[] = []
const warnings: string[] = []
let from: Mark = {segment: 0, position: 0}

parentPort!.on('message', (up_to: Mark | 'end') => {
  if (up_to === 'end') return parentPort!.close()
  for (const record of readJournal({folder, store_id, epoch, from, up_to, warn: ({text}) => warnings.push(text)})) {
    if (record.kind !== 'carried') read.push(String(record.payload))
    from = {segment: record.segment, position: record.end_position}
  }
  parentPort!.postMessage({from, read: read.splice(0), warnings})
})
