export {type BodiesOf, bodyFinder, type FindBodies, findInPacks} from './find.ts'
export {type FindManyBodies, manyBodiesFinder} from './find-many.ts'
export {openPacks, PACKS_FOLDER, type Packs} from './packs.ts'
export {mostRowBytes, type PackedBodies, type RowFields, readRows, writeRow} from './rows.ts'
