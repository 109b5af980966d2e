import {jina} from '../../../src/providers/rerankers/jina.ts'
import {pinecone} from '../../../src/providers/rerankers/pinecone.ts'
import {together} from '../../../src/providers/rerankers/together.ts'
import {voyage} from '../../../src/providers/rerankers/voyage.ts'
import {siliconflow} from '../../../src/providers/siliconflow/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

for (const dialect of [jina, pinecone, siliconflow, together, voyage]) {
  testFixtures(dialect, {rerank: 3})
  testHostile(dialect, ['rerank'])
}
for (const dialect of [jina, voyage]) {
  testFixtures(dialect, {embed: 3})
  testHostile(dialect, ['embed'])
}
