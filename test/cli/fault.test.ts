import {expect, test} from 'vitest'
import {faultOf} from '../../cli/fault.ts'
import {LibraryFault} from '../../src/base/runtime.ts'
import {StoreSilentFault, StoreUnwritableFault} from '../../src/base/store-fault.ts'

const ofSystem = (code: string, more: object = {}) =>
  Object.assign(new Error(`${code}: the words of the system`), {code, ...more})

/** What a start or a command may meet, and what its operator reads. */
const FAULTS: Record<string, readonly [fault: Error, code: string, sentence: RegExp, next: RegExp]> = {
  'a working directory that was removed': [
    ofSystem('ENOENT', {syscall: 'uv_cwd'}),
    'working_directory',
    /^The working directory was removed\.$/,
    /another one/,
  ],
  'no folder for the library': [
    new LibraryFault('SQLite\u2019s library could not be loaded. Set TMPDIR to another folder.'),
    'library',
    /Set TMPDIR/,
    /^$/,
  ],
  'a database that is silent': [
    new StoreSilentFault('PostgreSQL', 'nothing listens', {cure: 'Mend DATABASE_URL.'}),
    'store_silent',
    /^PostgreSQL does not answer: nothing listens\.$/,
    /^Mend DATABASE_URL\.$/,
  ],
  'a standby': [
    new StoreUnwritableFault('it may only be read', {cure: 'Name its primary in DATABASE_URL.'}),
    'store_unwritable',
    /^The database cannot be written now: it may only be read\.$/,
    /DATABASE_URL/,
  ],
  'a database that cannot be written, of which no more is known': [
    new StoreUnwritableFault('its disk is full'),
    'store_unwritable',
    /its disk is full/,
    /Try again/,
  ],
  'a disk that is full': [ofSystem('ENOSPC'), 'enospc', /disk is full\. Free some space/, /^$/],
  'a disk that is full, in the words of SQLite': [ofSystem('SQLITE_FULL'), 'sqlite_full', /disk is full/, /^$/],
  'a file system that may only be read': [ofSystem('EROFS'), 'erofs', /read-only\. .*--data-dir/, /^$/],
  'a database that may only be read, and why': [
    ofSystem('SQLITE_READONLY_DIRECTORY'),
    'sqlite_readonly_directory',
    /may not write the database/,
    /^$/,
  ],
  'a disk that fails': [ofSystem('SQLITE_IOERR_WRITE'), 'sqlite_ioerr_write', /The disk .* fails.*--data-dir/, /^$/],
  'a lock that is held': [ofSystem('SQLITE_BUSY_SNAPSHOT'), 'sqlite_busy_snapshot', /kept the database busy/, /^$/],
  'a file of another user': [
    ofSystem('EACCES', {path: '/srv/data/exports', syscall: 'mkdir'}),
    'eacces',
    /^\/srv\/data\/exports cannot be used: you may not use it\.$/,
    /owner and its mode/,
  ],
}

test.each(Object.entries(FAULTS))('%s is a sentence with its remedy', (_, [fault, code, says, next]) => {
  const found = faultOf(fault)
  expect(found).toMatchObject({exit: 1, code, message: expect.stringMatching(says), cause: fault})
  expect(found.next ?? '').toMatch(next)
  expect(`${found.message} ${found.next ?? ''}`).not.toMatch(/inside the gateway|the words of the system/)
})

test('a fault that was not foreseen keeps its stack', () => {
  const fault = ofSystem('ENOENT', {path: '/srv/data/x', syscall: 'open'})
  expect(faultOf(fault)).toMatchObject({code: 'internal', cause: fault})
})
