from probative.tables.counting import Tallied as Tallied
from probative.tables.counting import TallyWarning as TallyWarning
from probative.tables.counting import count_table as count_table
from probative.tables.counting import tally as tally
from probative.tables.scores import SummedScores as SummedScores
from probative.tables.tags import TagCounter as TagCounter
from probative.tables.tags import count_tags as count_tags
