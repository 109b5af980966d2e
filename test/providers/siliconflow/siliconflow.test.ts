import {siliconflow} from '../../../src/providers/siliconflow/index.ts'
import {testFixtures, testHostile} from '../../support/dialect.ts'

testFixtures(siliconflow, {imageGenerate: 3})
testHostile(siliconflow, ['imageGenerate'])
