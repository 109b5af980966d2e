import {connect} from '../../src/store/dialect/sqlite.ts'
import {say} from '../support/say.ts'

/** Holds the write lock of traffic.db until its standard input ends. Argument: the data directory. */
const raw = connect({folder: process.argv[2]!, role: 'flusher'})
raw.exec('begin immediate')
say('held')
process.stdin.on('end', () => raw.close()).resume()
