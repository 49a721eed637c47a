// One declaration per hazard; each is defined in a file of its own in this folder.
#pragma once

#include "analysis/hazards/hazard.hpp"

namespace backreach::hazards {

HazardKind AppendDuplicates();
HazardKind WatermarkFilter();
HazardKind BeforeBegin();
HazardKind BoundedMatch();
HazardKind ColumnsKept();
HazardKind RangeNotPassed();
HazardKind UnfilteredBatch();
HazardKind NullKey();
HazardKind UnprovenKey();
HazardKind MergeKeepsRemovedRows();
HazardKind EmptyPartitionKept();
HazardKind WriteUnknown();
HazardKind OpenPartition();
HazardKind Retention();
HazardKind PartialOverwrite();
HazardKind SourceReextract();
HazardKind LeftStale();
HazardKind CannotRebuild();
HazardKind SchemaChange();
HazardKind KeyChange();
HazardKind LayoutChange();
HazardKind NoRollback();
HazardKind RestatesWithNewer();
HazardKind RewrittenAlong();
HazardKind FiresByItself();
HazardKind SideEffects();
HazardKind Deletions();
HazardKind TimezoneAssumed();
HazardKind GrainUnknown();
HazardKind MappingAssumed();
HazardKind Widened();
HazardKind SharedCompute();
HazardKind ScheduleCollision();
HazardKind AlreadyRun();
HazardKind Cycle();
HazardKind Unresolved();

}  // namespace backreach::hazards
