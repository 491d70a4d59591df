package io.tollgate.spring.coverage;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;
import org.springframework.asm.AnnotationVisitor;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ReflectionUtils;

/** What the byte code of one class tells, without loading it: its annotations, and whom it calls. Names are internal, with slashes. */
final class ClassFacts extends ClassVisitor {
    /** Read at run time: as a constant it would be that of the Spring that this was compiled against, which doesn't know later class files. */
    private static final int API = (Integer) ReflectionUtils.getField(
            ReflectionUtils.findField(SpringAsmInfo.class, "ASM_VERSION"), null);

    private final Predicate<String> interesting;
    private final Set<String> annotations = new HashSet<>();
    private final Set<String> calls = new HashSet<>();
    private final Set<String> types = new HashSet<>();
    private final boolean isTest;
    private String name;
    private int access;

    /** Of the methods that are called it remembers those with an interesting name. */
    ClassFacts(Predicate<String> interesting, boolean isTest) {
        super(API);
        this.interesting = interesting;
        this.isTest = isTest;
    }

    String name() {
        return name;
    }

    /** Whether it lies where test classes are compiled to. */
    boolean isTest() {
        return isTest;
    }

    boolean isAnnotation() {
        return (access & Opcodes.ACC_ANNOTATION) != 0;
    }

    boolean isConcrete() {
        return (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_INTERFACE)) == 0;
    }

    /** Those on the class and on its methods, as descriptors. */
    Set<String> annotations() {
        return annotations;
    }

    /** Whether it calls such a method of such a class. */
    boolean calls(String owner, String method, int parameters) {
        return calls.contains(call(owner, method, parameters));
    }

    /** Types of which it may hold an instance other than {@code this}. */
    Set<String> types() {
        return types;
    }

    private static String call(String owner, String method, int parameters) {
        return owner + '.' + method + '/' + parameters;
    }

    @Override
    public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
        this.name = name;
        this.access = access;
    }

    @Override
    public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
        annotations.add(descriptor);
        return null;
    }

    @Override
    public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] exceptions) {
        // A bridge calls what it stands for, and is called in its place.
        boolean isBridge = (access & Opcodes.ACC_BRIDGE) != 0;
        if (!isBridge) {
            for (Type parameter : Type.getArgumentTypes(descriptor)) {
                hold(parameter);
            }
        }
        return new MethodVisitor(API) {
            @Override
            public AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
                annotations.add(descriptor);
                return null;
            }

            @Override
            public void visitMethodInsn(int opcode, String owner, String called, String descriptor, boolean isInterface) {
                if (!isBridge) {
                    note(owner, called, descriptor);
                    hold(Type.getReturnType(descriptor));
                }
            }

            @Override
            public void visitInvokeDynamicInsn(String called, String descriptor, Handle bootstrap, Object... arguments) {
                for (Object argument : arguments) {
                    if (argument instanceof Handle && ((Handle) argument).getDesc().startsWith("(")) {
                        note(((Handle) argument).getOwner(), ((Handle) argument).getName(), ((Handle) argument).getDesc());
                    }
                }
            }

            @Override
            public void visitFieldInsn(int opcode, String owner, String field, String descriptor) {
                // An inner class's own way to the instance that it belongs to.
                if (!field.startsWith("this$")) {
                    hold(Type.getType(descriptor));
                }
            }

            @Override
            public void visitTypeInsn(int opcode, String type) {
                if (opcode == Opcodes.CHECKCAST) {
                    hold(Type.getObjectType(type));
                }
            }
        };
    }

    private void note(String owner, String called, String descriptor) {
        if (interesting.test(called)) {
            calls.add(call(owner, called, Type.getArgumentTypes(descriptor).length));
        }
    }

    private void hold(Type type) {
        if (type.getSort() == Type.OBJECT) {
            types.add(type.getInternalName());
        }
    }
}
