import Sqlite from 'better-sqlite3'
import {processEnvironment} from '../../cli/environment.ts'
import {main} from '../../cli/index.ts'

/**
 * `node killed-command.ts N WORDS...`: runs a command line, and kills itself (SIGKILL) before the Nth statement that
 * writes prices.
 */
const [at, ...argv] = process.argv.slice(2)
let left = Number(at)
const prepare = Sqlite.prototype.prepare
Sqlite.prototype.prepare = function (this: Sqlite.Database, text: string) {
  if (/^insert into "prices"/.test(text) && --left === 0) process.kill(process.pid, 'SIGKILL')
  return prepare.call(this, text)
} as typeof prepare
process.exitCode = await main(argv, processEnvironment())
