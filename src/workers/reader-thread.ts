import {parentPort, workerData} from 'node:worker_threads'
import {sqliteBinding} from '../base/runtime.ts'
import {yieldToAnswers} from '../base/thread-priority.ts'
import {openReadOnly} from '../store/dialect/read-only.ts'
import type {ReaderNews, ReaderOrder, ReaderSetup, ReaderTold} from './reader-messages.ts'

/** The thread of reads that take time: analytics, lists of the log, exports. Its connection writes nothing. */

yieldToAnswers()
const port = parentPort!
const {target} = workerData as ReaderSetup
const connection = openReadOnly({...target, binding: sqliteBinding()})

port.on('message', (message: ReaderTold) => {
  if (message !== 'close') return port.postMessage(answer(message))
  connection.close()
  port.close()
})

function answer({sql, parameters}: ReaderOrder): ReaderNews {
  try {
    return {rows: connection.all(sql, parameters)}
  } catch (fault) {
    const code = fault instanceof Error && 'code' in fault ? String(fault.code) : ''
    return {fault: {message: fault instanceof Error ? fault.message : String(fault), code}}
  }
}
